"""The peer lab's page shows what its script prints."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

pytestmark = pytest.mark.realtime  # in virtual time, but some seconds of work

ROOT = Path(__file__).parents[2]


@pytest.fixture
def lab(monkeypatch):
    """The script, as a module."""
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("bench.peer_lab")


def rows(first):
    """The cells of each row of the page's table whose head begins with these cells."""
    page = (ROOT / "docs/router-lab.md").read_text(encoding="utf-8")
    _, _, table = page.partition(f"\n{first}")
    lines = table.partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_our_column_is_what_the_script_prints(lab):
    """Each row of `docs/router-lab.md` is what our router does now, under the lab's own words."""
    found = lab.column()
    shown = {letter: (what, ours) for letter, what, ours, *_ in rows("| | scenario | ours |")}
    assert shown == {letter: (what, found[letter]) for letter, what, _ in lab.ROWS}


def test_malformed_answers_come_to_what_the_page_says(lab):
    """Each row of the second table is what a client of our router gets now."""
    shown = {what: ours for what, ours, *_ in rows("| the worker sends | ours |")}
    assert shown == lab.malformed()
