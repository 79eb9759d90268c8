"""The badge of a run."""

from __future__ import annotations

import json

from staticfire.report.badge import badge
from staticfire.report.results import Outcome


def test_a_badge_counts_and_never_rates(make):
    """What is kept, what is known, and no share of a whole."""
    run = make.run(
        make.result("a"),
        make.result("b"),
        make.result("c", Outcome.KNOWN, ticket="#1"),
        make.result("d", Outcome.UNSUPPORTED),
        profile="core",
    )
    assert json.loads(badge([run])) == {
        "schemaVersion": 1,
        "label": "staticfire 0.1.0, core",
        "message": "2 kept · 1 known",
        "color": "blue",
    }


def test_a_badge_turns_red_for_what_nobody_expected(make):
    """A broken promise, a fault that is gone, a broken harness; what is only observed is none."""
    for outcome in (Outcome.FAIL, Outcome.FIXED, Outcome.ERROR):
        assert json.loads(badge([make.run(make.result("a", outcome))]))["color"] == "red"
    seen = make.run(make.result("a", Outcome.FAIL, level="observe"), make.result("b"))
    assert json.loads(badge([seen]))["message"] == "1 kept"
