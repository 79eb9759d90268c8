"""The how-tos of faults, fleets and clients are true: what they show runs, and none is left out."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from staticfire.bdd.steps import MODULES
from staticfire.engine import Combines, faults, phrases
from staticfire.engine.faults.base import fault_name

for module in MODULES:  # pytester forgets what its runs import first
    importlib.import_module(module)

HOWTO = Path(__file__).parents[1] / "docs/how-to"
FAMILIES = ("answers", "streams", "connections", "framing")
BLOCK = re.compile(r"^```(\w*)\n((?:.*\n)*?)```$", re.MULTILINE)
FILE = re.compile(r"# ([\w./-]+)\n")


def read(name: str) -> str:
    return (HOWTO / f"{name}.md").read_text(encoding="utf-8")


def files(page: str) -> dict[str, str]:
    """The files that a page shows: whole features, and what begins with a name in a comment."""
    shown = {}
    for number, (language, text) in enumerate(BLOCK.findall(read(page))):
        name = FILE.match(text)
        if name:
            shown[name[1]] = text
        elif language == "gherkin":
            shown[f"page{number}.feature"] = text
    return shown


def told(page: str) -> list[str]:
    """The phrases of a page's table of faults: the code in the last column of each row."""
    table = re.search(
        r"^\| what .* \| in Gherkin \|\n\|---\|---\|\n((?:\|.*\n)+)", read(page), re.MULTILINE
    )
    assert table is not None
    rows = table[1].splitlines()
    return [phrase for row in rows for phrase in re.findall(r"`([^`]+)`", row.split(" | ")[-1])]


@pytest.mark.parametrize(
    ("page", "passed"),
    [
        ("faults-answers", 4),
        ("faults-streams", 4),
        ("faults-connections", 4),
        ("faults-framing", 3),
        pytest.param("run-a-fleet", 2, marks=pytest.mark.realtime),
        ("judge-a-client", 4),
    ],
)
def test_what_a_page_shows_runs(pytester: pytest.Pytester, page: str, passed: int) -> None:
    """Who copies a page's features and tests into a folder sees them pass."""
    for name, text in files(page).items():
        (pytester.path / name).write_text(text, encoding="utf-8")
    result = pytester.runpytest_inprocess(
        "-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:hypothesispytest",
        "-o", "asyncio_default_fixture_loop_scope=function", "--mock-engines", "--engine-seed", "7",
    )  # fmt: skip
    result.assert_outcomes(passed=passed)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_phrase_of_a_table_is_one_that_a_step_takes(family: str) -> None:
    """A reader copies a row into a step and it works."""
    phrases_told = told(f"faults-{family}")
    assert len(phrases_told) > 10
    for phrase in phrases_told:
        assert phrases.rule(phrase).do, phrase


def test_every_fault_is_in_a_family() -> None:
    """Whatever an engine can be made to do is in one of the four tables, but what joins faults."""
    found = set()
    for family in FAMILIES:
        for phrase in told(f"faults-{family}"):
            do = phrases.rule(phrase).do
            found |= {fault_name(one) for one in (do.faults if isinstance(do, Combines) else [do])}
    ours = {name for name, cls in faults().items() if cls.__module__.startswith("staticfire.")}
    assert ours - found == {"combines"}


def test_the_fleet_file_of_the_page_is_read() -> None:
    """What the page calls a fleet file is one."""
    from staticfire.engine.fleet_file import parse_fleet

    read_file = parse_fleet(files("run-a-fleet")["night.toml"])
    assert [(group.name, group.count) for group in read_file.groups] == [("early", 2), ("late", 14)]
