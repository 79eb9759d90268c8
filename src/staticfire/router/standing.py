"""Whether a worker may be asked now.

Pure: it reads what is known of one worker, and takes `now` in nanoseconds as an argument.
"""

from __future__ import annotations

import enum
from typing import Protocol

from staticfire.router.breaker import Breaker
from staticfire.router.wedged import Shedding, Sign, eases_at

__all__ = ["Facts", "Standing", "standing_of"]


class Standing(enum.Enum):
    """In which row a worker of a pool stands."""

    able = "able"
    """The policy may choose it."""
    due = "due"
    """Wedged or suspect; it has had no request for one health interval, and gets the next one."""
    aside = "aside"
    """Wedged, suspect, or it asked to be left alone: only when there is nobody else."""
    out = "out"
    """It may not be asked: its breaker rests it, it is full, it drains."""


class Facts(Protocol):
    """What decides."""

    breaker: Breaker
    in_flight: int
    cap: int | None
    draining: bool
    shedding: Shedding
    sign: Sign
    asked_at: int


def standing_of(worker: Facts, now: int, interval: int) -> tuple[Standing, int | None]:
    """Where a worker stands at `now`, and when to look again though nothing happens."""
    if worker.draining or (worker.cap is not None and worker.in_flight >= worker.cap):
        return Standing.out, None
    if not worker.breaker.would_admit(now):
        return Standing.out, worker.breaker.reopens_at()
    shedding = worker.shedding
    if shedding.since is None:
        return Standing.able, None
    if worker.sign is not Sign.well:
        again = worker.asked_at + interval
        return (Standing.due, None) if now >= again else (Standing.aside, again)
    if now < shedding.until:
        return Standing.aside, shedding.until
    return Standing.able, eases_at(shedding, now)
