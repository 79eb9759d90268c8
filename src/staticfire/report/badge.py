"""A badge of one run, as the JSON that a badge server reads (the `endpoint` form of shields.io).

It says counts and the version of the suite; it has no colour of merit but the one for what is
against the expectations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from staticfire.report.results import Outcome, Run

__all__ = ["badge"]

AGAINST = (Outcome.FAIL, Outcome.FIXED, Outcome.ERROR)


def badge(runs: Sequence[Run]) -> bytes:
    """The badge of the runs (shards of one router, mostly); what is only observed does not count."""
    found = Counter(
        one.outcome for run in runs for one in run.results if one.level != "observe" and one.routed
    )
    told = [f"{found[Outcome.PASS]} kept"]
    told += [f"{found[one]} {one.value}" for one in (Outcome.KNOWN, *AGAINST) if found[one]]
    profiles = sorted({run.profile or "all" for run in runs})
    suites = sorted({run.suite for run in runs})
    return msgspec.json.encode(
        {
            "schemaVersion": 1,
            "label": f"staticfire {', '.join(suites)}, {', '.join(profiles)}",
            "message": " · ".join(told),
            "color": "red" if any(found[one] for one in AGAINST) else "blue",
        }
    )
