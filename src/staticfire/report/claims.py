"""Claims that nothing bears out: what a router says that it has, and never once showed.

A scenario asks for what its router says that it has (`@needs:`). Of a router that claims everything
nothing is ever unsupported, so a claim is looked at by what came of it.
"""

from __future__ import annotations

from collections import defaultdict

from staticfire.report.results import Outcome, Run

__all__ = ["empty_claims"]

RAN = (Outcome.PASS, Outcome.FIXED, Outcome.FAIL, Outcome.KNOWN)
KEPT = (Outcome.PASS, Outcome.FIXED)


def empty_claims(run: Run) -> list[str]:
    """A line for each capability of which two scenarios or more ran, and a router kept none."""
    ran: dict[tuple[str, str], set[str]] = defaultdict(set)
    kept: set[tuple[str, str]] = set()
    for one in run.results:
        for need in one.needs:
            if one.outcome in RAN:
                ran[one.router, need].add(one.scenario)
            if one.outcome in KEPT:
                kept.add((one.router, need))
    return [
        f"{router} claims {need}, and kept none of the {len(ids)} scenarios that need it"
        for (router, need), ids in sorted(ran.items())
        if len(ids) > 1 and (router, need) not in kept
    ]
