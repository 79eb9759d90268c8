"""What is wrong with a feature file, told before a test runs.

pytest-bdd keeps scenarios in a dict by name, so one of two namesakes silently vanishes; a
mistyped keyword becomes description, so a scenario without steps passes; of two patterns that
match a step the alphabetically last wins. Each of these is an error here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from pytest_bdd.parser import Feature, ScenarioTemplate

from staticfire.bdd.tags import Tags, read_tags

__all__ = ["lint", "scenario_tags"]

HEADING = re.compile(r"^\s*(?:Scenario|Scenario Outline|Scenario Template|Example):\s*(.*?)\s*$")
ROUTED = "the router in front of"
"""What the steps that start a router have in common."""
EXAMPLES = re.compile(r"^\s*(?:Examples|Scenarios):")


def scenario_tags(feature: Feature, scenario: ScenarioTemplate) -> set[str]:
    """All tags that hold for a scenario: its own, its rule's, its feature's."""
    return feature.tags | scenario.tags | (scenario.rule.tags if scenario.rule else set())


def lint(
    path: Path, feature: Feature, registered: Iterable[str], ids: dict[str, str]
) -> tuple[dict[str, Tags], list[str]]:
    """Check one feature.

    `ids` are the scenario ids seen so far with their places; this feature's are added. Returns
    the tags by scenario name, and the findings, each as `file:line: what, what to do`.
    """
    found: list[str] = []
    lines = path.read_text(encoding="utf-8").splitlines()
    names = Counter(match[1] for line in lines if (match := HEADING.match(line)) is not None)
    for name, times in names.items():
        if times > 1:
            places = ", ".join(
                str(number)
                for number, line in enumerate(lines, 1)
                if (match := HEADING.match(line)) and match[1] == name
            )
            found.append(
                f"{path}:{places}: {times} scenarios are called {name!r}; only one would run: "
                f"give each a name of its own"
            )
    found += _tags_on_examples(path, lines)
    tags: dict[str, Tags] = {}
    for name, scenario in feature.scenarios.items():
        place = f"{path}:{scenario.line_number}"
        read, wrong = read_tags(scenario_tags(feature, scenario), registered)
        tags[name] = replace(read, routed=any(ROUTED in step.name for step in scenario.steps))
        found += [f"{place}: {what}" for what in wrong]
        if not scenario.steps:
            first = scenario.description.strip().partition("\n")[0]
            why = f"; is {first!r} a step with a mistyped keyword?" if first else ""
            found.append(f"{place}: scenario {name!r} has no steps and would pass{why}")
        own_id = tags[name].id
        if own_id is None:
            found.append(
                f"{place}: scenario {name!r} has no @id: tag; give it one that is never reused"
            )
        elif ids.setdefault(own_id, place) != place:
            found.append(f"{place}: @id:{own_id} is taken by {ids[own_id]}; ids are never reused")
    return tags, found


def _tags_on_examples(path: Path, lines: list[str]) -> list[str]:
    """Tags on Examples bypass the hook that reads tags: a colon in one would be lost."""
    return [
        f"{path}:{number}: tags with a colon have no effect on Examples; tag the scenario"
        for number, (line, after) in enumerate(pairwise(lines), 1)
        if line.lstrip().startswith("@") and ":" in line and EXAMPLES.match(after)
    ]
