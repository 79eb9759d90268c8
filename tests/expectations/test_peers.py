"""The rows of other people's routers that ship with the package."""

from __future__ import annotations

from datetime import date
from importlib.resources import files

import pytest

from staticfire.bdd.collect import scenario_ids
from staticfire.expectations import Known, lint, parse
from staticfire.expectations.peers import peer_rows, stale
from staticfire.stand.routers import builtin

NAMES = sorted(
    page.name.removesuffix(".toml")
    for page in files("staticfire.expectations.peers").iterdir()
    if page.name.endswith(".toml")
)


@pytest.mark.parametrize("name", NAMES)
def test_the_rows_of_a_router_are_about_it_and_can_decide(name):
    """Known scenarios, no shadowed row, a version, and the router itself as a condition."""
    rows = peer_rows(name)
    known = Known(ids=scenario_ids([]), lanes=("mock",), routers=tuple(builtin()))
    assert lint(rows, known, date(2026, 11, 30)) == []
    assert rows
    assert {row.when["router"] for row in rows} == {name}
    assert all(row.version and row.raises for row in rows)
    assert all(row.link is None or row.link.startswith("https://") for row in rows)


def test_a_router_without_rows_has_none():
    """It is held to everything."""
    assert peer_rows("bundled") == ()


def test_rows_of_another_version_are_told():
    """They still count: a row that no longer holds fails by itself."""
    page = """
        [["a"]]
        when = {}
        bug = "#1"
        reason = "r"
        version = "1.0"
        [["b"]]
        when = {}
        bug = "#2"
        reason = "r"
    """
    rows = parse(page)
    assert stale("mine", "1.0", rows) == []
    assert stale("mine", "1.1", rows) == [
        "1 rows of mine were seen on 1.0, this is 1.1: they may be stale"
    ]


def test_a_row_may_be_for_some_examples():
    """By a pattern of their values, joined by hyphens."""
    when = '{ router = "mine", example = "503-*" }'
    (row,) = parse(f'[["a"]]\nwhen = {when}\nbug = "#1"\nreason = "r"\n')
    assert row.applies({"router": "mine", "example": "503-JSON"})
    assert not row.applies({"router": "mine", "example": "429-JSON"})
    assert not row.applies({"router": "mine"})
