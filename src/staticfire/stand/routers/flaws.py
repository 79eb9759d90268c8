"""The flaws that real routers were seen to have, each with a switch in the naive router.

Each is caught by the scenario that names it: a suite that cannot fail proves nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

__all__ = ["FLAWS", "NAIVE", "Flaw"]


class Flaw(NamedTuple):
    """What a router does wrong, and the scenario that catches it."""

    does: str
    caught_by: str


FLAWS: Mapping[str, Flaw] = MappingProxyType(
    {
        "counts-backpressure": Flaw(
            "503 and 429 count as faults, so that the only worker is shed",
            "backpressure-sole-engine-is-never-shed",
        ),
        "counts-stream-backpressure": Flaw(
            "a stream whose first event says 503 counts as a fault", "backpressure-in-stream"
        ),
        "counts-client-faults": Flaw(
            "a client's 400 counts as a fault of the worker", "client-faults-never-open"
        ),
        "believes-every-500": Flaw(
            "a 500 whose body declares a 400 counts as a fault", "declared-client-fault-never-opens"
        ),
        "forgets-the-streak": Flaw(
            "a 503 between two errors ends the streak", "backpressure-interleaved-with-errors"
        ),
        "rests-too-soon": Flaw(
            "three errors open the breaker, for a minute", "errors-open-the-breaker"
        ),
        "never-rests": Flaw("no streak of errors opens the breaker", "errors-open-the-breaker"),
        "rests-again-after-503": Flaw(
            "a probe answered 503 opens the breaker again", "half-open-probe-answered-503-closes"
        ),
        "late-answers-close": Flaw(
            "an answer that comes late closes an open breaker",
            "late-503-leaves-an-open-breaker-alone",
        ),
        "blind-to-cuts": Flaw(
            "an answer that is cut counts as what its head said", "cut-answers-open-the-breaker"
        ),
        "ends-cuts-cleanly": Flaw(
            "a cut body is ended cleanly, and a stream gets a [DONE] that no engine sent",
            "cut-answers-open-the-breaker",
        ),
        "looks-ever-more-rarely": Flaw(
            "it looks for workers after 1, 2, 4 … seconds, and no more after ten minutes",
            "nobody-is-forgotten",
        ),
        "hashes-sessions": Flaw(
            "a session belongs to a worker by its hash, so that a late one moves sessions",
            "nothing-is-reindexed-later",
        ),
        "keeps-new-sessions-early": Flaw(
            "new sessions go to the first worker that came", "late-workers-get-the-new-sessions"
        ),
        "knows-no-models": Flaw(
            "it sends a request to whoever is up, whatever its model", "late-workers-of-each-model"
        ),
        "believes-listings": Flaw(
            "a worker that lists its model counts as one that serves",
            "fleet-coming-up",
        ),
        "always-ready": Flaw(
            "it says that it is ready with nobody behind it", "a-router-with-nobody-says-so"
        ),
        "names-addresses": Flaw(
            "its errors tell clients where its workers are", "a-router-with-nobody-says-so"
        ),
        "keeps-the-dead": Flaw("a worker that refuses stays in rotation", "fleet-an-engine-dies"),
    }
)
"""Flaw by name."""

NAIVE = frozenset(FLAWS) - {"never-rests", "blind-to-cuts"}
"""Those of the naive router: the two left out would hide others."""
