"""The table of faults is whole: each has its file, its test, its phrases and its scenarios."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_bdd.feature import get_feature

from staticfire import engine
from staticfire.bdd.collect import features_dir
from staticfire.clock.virtual import run
from staticfire.engine import Combines, Fault, MockEngine, Script, faults, personalities
from staticfire.engine.faults.base import fault_name
from staticfire.engine.phrases import life, rule
from staticfire.engine.toml import parse_script

PACKAGE = "staticfire.engine.faults."
HERE = Path(__file__).parent
OURS = {name: cls for name, cls in faults().items() if cls.__module__.startswith(PACKAGE)}
PHRASED = {name: cls for name, cls in OURS.items() if hasattr(cls, "phrases")}
TWO_PARTS = {"dribbles", "truncates", "sends an error event", "crashes", "sends an interim answer"}
"""Faults whose phrases are a product of parts: each part has a scenario, not each combination."""


def every_step() -> Iterator[str]:
    """The steps of the packaged features, with their examples filled in."""
    for path in sorted(features_dir().glob("engines*.feature")):
        feature = get_feature(str(path.parent), path.name)
        for template in feature.scenarios.values():
            rows = [row for examples in template.examples for row in examples.as_contexts()]
            for row in rows or [{}]:
                steps = template.render(row).steps
                yield from (step.name for step in steps if step.type != "then")


def played() -> list[Fault]:
    """Every fault that a scenario of the engines names, in a rule or in a life."""
    found: list[Any] = []
    for step in every_step():
        if does := re.fullmatch(r'engine "[^"]*" (.+)', step):
            found.append(rule(does[1]).do)
        elif lives := re.fullmatch(r'an engine "[^"]*" that (.+)', step):
            for phase in life(lives[1]):
                values = (getattr(phase, field.name) for field in dataclasses.fields(phase))
                found += [value for value in values if isinstance(value, Fault)]
        elif "redirected to engine" in step:
            found.append(engine.Redirects("http://other.test"))
    return [
        each for value in found for each in (value.faults if type(value) is Combines else [value])
    ] + [value for value in found if type(value) is Combines]


PLAYED = played()


def test_a_fault_is_one_file_with_one_test_file():
    """The module has the class's name in its own case and no other fault; its test stands here."""
    for name, cls in OURS.items():
        stem = cls.__module__.removeprefix(PACKAGE)
        assert stem == re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=A)(?=[A-Z])", "_", cls.__name__).lower()
        assert (HERE / f"test_{stem}.py").is_file(), name
        module = importlib.import_module(cls.__module__)
        others = [c for c in OURS.values() if c.__module__ == module.__name__]
        assert others == [cls], name


def test_a_fault_is_exported_under_its_class_s_name():
    """`staticfire.engine` has every fault."""
    assert {getattr(engine, cls.__name__) for cls in OURS.values()} == set(OURS.values())
    assert {cls.__name__ for cls in OURS.values()} <= set(engine.__all__)


def test_a_module_s_first_line_names_its_fault():
    """Its docstring begins with the name in back quotes, as the reference shows it."""
    for name, cls in OURS.items():
        first = (inspect.getdoc(importlib.import_module(cls.__module__)) or "").split("\n")[0]
        assert first.startswith(f"`{name}`: "), cls
        assert inspect.getdoc(cls), cls


@pytest.mark.parametrize("name", sorted(OURS))
def test_a_fault_has_three_spellings(name):
    """A phrase of Gherkin gives a value of the class, which TOML writes too."""
    if name == "combines":
        return  # `and` and a list: `test_combines` holds that
    cls = OURS[name]
    assert cls.phrases
    required = {"answers": ", status = 503", "redirects": ', to = "/x"'}.get(name, "")
    extra = ", bytes = 10" if name in ("truncates", "stalls") else required
    toml = f'rule = [{{ on = "chat", do = {{ fault = "{name}"{extra} }} }}]'
    assert tomllib.loads(toml)
    assert type(parse_script(toml).rules[0].do) is cls


@pytest.mark.parametrize("name", sorted(OURS))
def test_a_fault_is_in_a_scenario_as_each_of_its_phrases_means_it(name):
    """Whatever a phrase fixes is seen by the judge in some scenario of the engines."""
    mine = [value for value in PLAYED if fault_name(value) == name or type(value) is OURS[name]]
    assert mine, f"no scenario plays {name!r}"
    for fixed in map(dict, getattr(OURS[name], "phrases", {}).values()):
        parts = [{key: value} for key, value in fixed.items()] if name in TWO_PARTS else [fixed]
        for part in parts:
            assert any(part.items() <= _fields(value).items() for value in mine), (name, part)


@pytest.mark.parametrize("personality", personalities())
def test_a_fault_knows_no_personality(http, personality):
    """Each one plays on the JSON and the stream of every dialect, and nothing in it fails."""

    async def main():
        failures = []
        for name, pattern in sorted((n, next(iter(c.phrases))) for n, c in PHRASED.items()):
            does = rule(example(pattern))
            script = Script(personality=personality, model="qwen", rules=[does])
            async with MockEngine(script) as played:
                for stream in (False, True):
                    request = http.chat(model="qwen", stream=stream)
                    try:
                        await http.talk(played, request, patience=100)
                    except ConnectionRefusedError:
                        assert name == "crashes"
            failures += [(name, str(error)) for error in played.errors]
        return failures

    assert run(main()) == []


def example(pattern: str) -> str:
    """A phrase of a pattern."""
    text = pattern.replace("{what}", "chat").replace("{status:d}", "503")
    text = re.sub(r"\{\w+:duration\}", "3 seconds", text)
    return re.sub(r"\{\w+\}", "x", re.sub(r"\{\w+:d\}", "30", text))


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
