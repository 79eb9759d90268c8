"""The whole vocabulary as a page: every phase, fault, personality and step.

`staticfire steps --markdown` prints it, `docs/reference/vocabulary.md` is what it prints.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

from staticfire.bdd.step import LIBRARY, StepDoc
from staticfire.bdd.steps import MODULES
from staticfire.engine import faults
from staticfire.engine.personalities import personalities, personality
from staticfire.engine.phases import PHASES
from staticfire.engine.phrases import VERBS
from staticfire.engine.script import ROUTES

__all__ = ["page"]

KINDS = ("Given", "When", "Then")
HEAD = """\
# Vocabulary

Everything that a scenario may say: where engines stand in their lives, what they do wrong, whose
dialect they speak, and every step. [Scripts](scripts.md) explains how it fits together. This page is
printed by `staticfire steps --markdown`; a test holds it to the code.
"""


def page() -> str:
    """The page, as Markdown."""
    for module in MODULES:
        importlib.import_module(module)
    parts = (_phases(), _endpoints(), _faults(), _personalities(), _steps())
    lines = [HEAD, *(line for part in parts for line in part)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def _phases() -> Iterator[str]:
    yield "## Phases\n"
    yield "| phase | in Gherkin | what it is |\n|---|---|---|"
    for name, cls in PHASES.items():
        verbs = ", ".join(verb for verb, phase in VERBS.items() if phase is cls)
        yield f"| `{name}` | {verbs} | {_cell(_told(cls))} |"
    yield (
        "\nA life joins phases with `, then`. A phase lasts `for 12 seconds`, `for 3 requests`, "
        '`until hold "name" is released`, or for ever; what it does differently follows with `and`.\n'
    )


def _endpoints() -> Iterator[str]:
    yield "## Endpoints\n"
    yield "What stands for `{what}` in the phrases of faults:\n"
    yield "| name | route |\n|---|---|"
    for name, route in ROUTES.items():
        also = " (also `the listing`)" if name == "models" else ""
        yield f"| `{name}`{also} | `{route}` |"
    yield '\nAny other route stands in double quotes: `never answers "GET /metrics"`.\n'


def _faults() -> Iterator[str]:
    yield "## Faults\n"
    for name, cls in faults().items():
        if not cls.__module__.startswith("staticfire."):
            continue
        yield f"### {name}\n"
        yield _told(cls) + "\n"
        fields = [field for field in dataclasses.fields(cls) if field.init]
        if fields:
            yield "| field | type | default |\n|---|---|---|"
            yield from (_field(field) for field in fields)
        phrases = getattr(cls, "phrases", {})
        if phrases:
            said = "\n".join(re.sub(r":\w+\}", "}", phrase) for phrase in phrases)
            yield f"\n```text\n{said}\n```"
        yield ""


def _field(field: dataclasses.Field[Any]) -> str:
    factory = field.default_factory
    if field.default is not dataclasses.MISSING:
        default = f"`{field.default!r}`"
    else:
        default = "must be given" if factory is dataclasses.MISSING else f"`{factory()!r}`"
    return f"| `{field.name}` | {_cell(str(field.type))} | {_cell(default)} |"


def _personalities() -> Iterator[str]:
    yield "## Personalities\n"
    yield "| personality | whose dialect |\n|---|---|"
    for name in personalities():
        yield f"| `{name}` | {_cell(_told(type(personality(name))))} |"
    yield ""


def _steps() -> Iterator[str]:
    yield "## Steps\n"
    yield 'Units in steps are plural, also after 1: "1 seconds".\n'
    yield (
        "A table or text below a step is told of in its description. `staticfire steps WORD` lists "
        "those that speak of a word.\n"
    )
    for module in MODULES:
        found: dict[tuple[str, str], list[StepDoc]] = {}
        for step in LIBRARY:
            if step.module == module:
                found.setdefault((step.pattern, step.doc), []).append(step)
        name = module.rpartition(".")[2]
        yield f"### {name}\n"
        subject = inspect.getdoc(importlib.import_module(module)) or ""
        yield subject.partition("\n\n")[0] + "\n"
        yield "| | step | |\n|---|---|---|"
        for (pattern, doc), steps in found.items():
            kinds = ", ".join(sorted({step.kind for step in steps}, key=KINDS.index))
            shown = re.sub(r":\w+\}", "}", pattern)
            example = steps[0].example
            more = f" `{_cell(example)}`" if example != pattern else ""
            yield f"| {kinds} | `{_cell(shown)}` | {_cell(doc)}{more} |"
        yield ""


def _told(cls: type[Any]) -> str:
    """What a class says of itself, on one line."""
    return " ".join((inspect.getdoc(cls) or "").split())


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
