"""The peer lab's page shows what its script prints."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

pytestmark = pytest.mark.realtime  # in virtual time, but two seconds of work

ROOT = Path(__file__).parents[2]


def test_our_column_is_what_the_script_prints(monkeypatch):
    """Each row of `docs/router-lab.md` is what our router does now."""
    monkeypatch.syspath_prepend(str(ROOT))
    lab = importlib.import_module("bench.peer_lab")
    page = (ROOT / "docs/router-lab.md").read_text(encoding="utf-8")
    shown = {}
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if len(cells) == 7 and cells[0] in {letter for letter, _, _ in lab.ROWS}:
            shown[cells[0]] = cells[2]
    assert shown == lab.column()
