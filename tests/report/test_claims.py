"""Claims of routers that nothing bears out."""

from __future__ import annotations

from staticfire.report.claims import empty_claims
from staticfire.report.results import Outcome


def test_a_claim_that_no_scenario_bears_out_is_told(make):
    """A router that says that it has everything is never unsupported: what it kept tells."""
    run = make.run(
        make.result("a", Outcome.FAIL, needs=("sessions",)),
        make.result("b", Outcome.KNOWN, needs=("sessions", "turns")),
        make.result("c", Outcome.PASS, needs=("turns",)),
    )
    assert empty_claims(run) == [
        "bundled claims sessions, and kept none of the 2 scenarios that need it"
    ]


def test_what_did_not_run_says_nothing_of_a_claim(make):
    """And one broken scenario is a bug, no empty claim."""
    run = make.run(
        make.result("a", Outcome.UNSUPPORTED, needs=("pairs",)),
        make.result("b", Outcome.UNSUPPORTED, needs=("pairs",)),
        make.result("c", Outcome.FAIL, needs=("models",)),
    )
    assert empty_claims(run) == []
