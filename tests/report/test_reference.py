"""The reference of the result file tells of every field, and the guide of every sign."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from staticfire.report.kinds import Kind
from staticfire.report.markdown import SIGNS
from staticfire.report.results import Result, Router, Run, Timeline

DOCS = Path(__file__).parents[2] / "docs"
PAGE = Path(__file__).parents[2] / "src/staticfire/report/page"


@pytest.mark.parametrize("kind", [Run, Result, Router, Timeline], ids=lambda kind: kind.__name__)
def test_every_field_is_told(kind):
    """A reader of the JSON finds each name in the reference."""
    text = (DOCS / "reference/results.md").read_text(encoding="utf-8")
    told = set(re.findall(r"`(\w+)`", text))
    assert {field.name for field in fields(kind)} <= told


def test_page_and_guide_know_every_outcome_and_kind():
    """An outcome or a kind of bar that is added gets its sign, its words and its shape."""
    guide = (DOCS / "how-to/read-the-report.md").read_text(encoding="utf-8")
    script = (PAGE / "data.js").read_text(encoding="utf-8")
    for outcome in SIGNS:
        assert f"| {outcome.value} |" in guide
        assert script.count(f'"{outcome.value}":') == 2
    drawn = re.search(r"const KIND = \[(.*)\];", (PAGE / "timeline.js").read_text("utf-8"))
    assert drawn is not None
    assert drawn[1].count('"') == 2 * len(Kind)
