"""Collects `.feature` files as tests, without a Python file beside them.

The only module that touches what pytest-bdd keeps private (`scenario_wrapper_template_registry`,
`find_fixturedefs_for_step`, the names of fixtures); hence `pytest-bdd>=9.0.1,<10`.
"""

from __future__ import annotations

import types
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pytest_bdd import scenario as bind
from pytest_bdd.compat import get_fixture_names, getfixturedefs
from pytest_bdd.exceptions import StepError
from pytest_bdd.feature import get_feature
from pytest_bdd.scenario import (
    find_fixturedefs_for_step,
    get_python_name_generator,
    scenario_wrapper_template_registry,
)
from pytest_bdd.steps import StepFunctionContext, step_function_context_registry

from staticfire.bdd.keys import BINDING
from staticfire.bdd.lint import lint, scenario_tags
from staticfire.bdd.near import nearest_steps
from staticfire.bdd.step import LIBRARY
from staticfire.bdd.tags import read_tags

__all__ = [
    "STEPS_LOADED",
    "FeatureFile",
    "features_dir",
    "packaged",
    "scenario_ids",
    "title_of",
]

IDS = pytest.StashKey[dict[str, str]]()
"""Scenario ids seen in this session, with their places."""


def features_dir() -> Path:
    """Where the packaged features lie: inside the wheel, or beside `src` in a checkout."""
    inside = Path(__file__).parents[1] / "features"
    return inside if inside.is_dir() else Path(__file__).parents[3] / "features"


def packaged(path: Path) -> bool:
    """Whether a feature is one of ours."""
    return path.resolve().is_relative_to(features_dir().resolve())


def feature_files(folders: Iterable[Path]) -> Iterator[Path]:
    """Every feature file of the folders, in a stable order."""
    for folder in folders:
        yield from sorted(folder.rglob("*.feature")) if folder.is_dir() else [folder]


def scenario_ids(folders: Iterable[Path]) -> set[str]:
    """The ids of all scenarios, whatever was selected: the packaged ones and the folders'."""
    ids = set()
    for path in feature_files([features_dir(), *folders]):
        feature = get_feature(str(path.parent), path.name)
        for scenario in feature.scenarios.values():
            tags, _ = read_tags(scenario_tags(feature, scenario), scenario.tags)
            ids |= {tags.id} - {None}
    return {scenario_id for scenario_id in ids if scenario_id is not None}


class FeatureFile(pytest.Module):
    """A feature as a module with a test for each scenario."""

    def _getobj(self) -> types.ModuleType:
        try:
            feature = get_feature(str(self.path.parent), self.path.name)
        except StepError as error:
            raise self.CollectError(f"{self.path}:{error.line}: {error.message}") from error
        registered = [
            line.partition(":")[0].partition("(")[0].strip()
            for line in self.config.getini("markers")
        ]
        seen = self.config.stash.setdefault(IDS, {})
        tags, found = lint(self.path, feature, registered, seen)
        if found:
            raise self.CollectError("\n".join(found))
        module = types.ModuleType(self.path.stem)
        module.__file__ = str(self.path)
        token = BINDING.set(True)
        for name in feature.scenarios:
            function = bind(self.path.name, name, features_base_dir=str(self.path.parent))(_nothing)
            function.staticfire_tags = tags[name]  # type: ignore[attr-defined]
            free = (n for n in get_python_name_generator(name) if not hasattr(module, n))
            setattr(module, next(iter(free)), function)
        BINDING.reset(token)
        return module

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        items = list(super().collect())
        for item in items:
            if not isinstance(item, pytest.Function):
                continue
            template = scenario_wrapper_template_registry.get(item.obj)
            if template is not None:
                place = (self.path, template.line_number - 1, item.name)
                item.reportinfo = partial(_identity, place)  # type: ignore[method-assign]
        if self.config.stash.get(STEPS_LOADED, False):
            once = {_steps_of(item): item for item in reversed(items)}  # not for each router again
            findings = [f for item in reversed(once.values()) for f in _step_findings(self, item)]
            if findings:
                raise self.CollectError("\n".join(dict.fromkeys(findings)))
        return items


def title_of(item: pytest.Function) -> str:
    """The scenario's name, with the values of its example."""
    template = scenario_wrapper_template_registry.get(item.obj)
    title = str(template.name) if template is not None else item.name
    callspec = getattr(item, "callspec", None)
    example = callspec.params.get("_pytest_bdd_example", {}) if callspec else {}
    for name, value in example.items():
        title = title.replace(f"<{name}>", str(value))
    return title


STEPS_LOADED = pytest.StashKey[bool]()
"""Whether the step library is loaded: only with a lane."""


def _identity(place: tuple[Path, int, str]) -> tuple[Path, int, str]:
    return place


def _nothing() -> None:
    """What a scenario does besides its steps."""


def _steps_of(item: Any) -> tuple[object, ...]:
    """What the steps of an item depend on: its scenario and its example."""
    callspec = getattr(item, "callspec", None)
    example = callspec.params.get("_pytest_bdd_example", {}) if callspec else {}
    return (getattr(item, "obj", item), *example.items())


def _step_findings(feature: FeatureFile, item: Any) -> Iterator[str]:
    """Steps of one item that no pattern matches, or several of the nearest scope."""
    template = scenario_wrapper_template_registry.get(item.obj)
    if template is None:
        return
    callspec = getattr(item, "callspec", None)
    example = callspec.params.get("_pytest_bdd_example", {}) if callspec else {}
    manager = feature.session._fixturemanager  # noqa: SLF001 - pytest has no public list of fixtures
    for step in template.render(example).steps:
        matching = list(find_fixturedefs_for_step(step, manager, item))
        place = f"{feature.path}:{step.line_number}"
        if not matching:
            yield (
                f'{place}: no step matches "{step.keyword} {step.name}"'
                f"{_advice(step, manager, item)}; `staticfire steps` lists them all"
            )
            continue
        scope = max(len(definition.baseid) for definition in matching)
        # Of one pattern the later definition replaces the earlier: a project overrides ours so.
        patterns = {
            definition.argname: step_function_context_registry[definition.func].parser.name
            for definition in matching
            if len(definition.baseid) == scope
        }
        rivals = sorted(patterns.values())
        if len(rivals) > 1:
            both = " and ".join(f'"{pattern}"' for pattern in rivals)
            yield f'{place}: "{step.keyword} {step.name}" matches {both}; make one narrower'


def _advice(step: Any, manager: Any, item: Any) -> str:
    """The step's own words under another keyword, or the nearest steps of its keyword."""
    kinds: dict[str, list[StepFunctionContext]] = defaultdict(list)
    for context in _steps(manager, item):
        for kind in (context.type,) if context.type else KINDS:
            kinds[kind].append(context)
    elsewhere = [
        kind.capitalize()
        for kind in KINDS
        if any(context.parser.is_matching(step.name) for context in kinds[kind])
    ]
    if elsewhere:
        return f"; it is a step of {' and '.join(elsewhere)}, not of {step.type.capitalize()}"
    examples = {step.pattern: step.example for step in LIBRARY}
    known = {}
    for context in kinds[step.type]:
        pattern = context.parser.name.replace(":Quoted}", "}")
        known[pattern] = examples.get(pattern, pattern)
    near = [f'"{text}"' for text in nearest_steps(step.name, known)]
    if not near:
        return ""
    if len(near) == 1:
        return f"; the nearest is {near[0]}"
    return f"; the nearest are {', '.join(near[:-1])} and {near[-1]}"


KINDS = ("given", "when", "then")


def _steps(manager: Any, item: Any) -> Iterator[StepFunctionContext]:
    """Every step that a scenario may use."""
    for name in get_fixture_names(fixturemanager=manager):
        for definition in getfixturedefs(manager, name, item) or ():
            context = step_function_context_registry.get(definition.func)
            if context is not None:
                yield context
