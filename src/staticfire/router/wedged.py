"""Whether a worker that sheds is only busy, or stuck.

Theory. Backpressure is no fault, so no breaker ever sees a worker that answers 503 for ever. What
gives it away is its own account of itself: it has shed everything for `wedge_after`, and all the
while nothing ran on it and nothing waited. Then it is `wedged`. One that has no metrics to ask, or
whose metrics cannot be had, is `suspect` after the same time. An account of work starts the time
anew: the worker was busy. The first request that it answers heals it.

The time is counted from shed to shed, so a worker that nobody asked is never called stuck.

Pure: nothing here reads a clock; `now` is an argument, in nanoseconds.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace

__all__ = ["Shedding", "Sign", "account", "eases_at", "penalty", "shed", "sign"]

_HALVES_EVERY = 1_000_000_000
_DOUBLINGS = 6  # a penalty of 64 at most


class Sign(enum.Enum):
    """What the second signal says of a worker."""

    well = "well"
    suspect = "suspect"
    wedged = "wedged"


@dataclass(frozen=True, slots=True)
class Shedding:
    """What is known since the worker last answered a request. The default: it sheds nothing."""

    since: int | None = None
    """Its first shed since then, or when it last said that it works."""
    last: int = 0
    streak: int = 0
    until: int = 0
    """It asked, by Retry-After, to be left alone until then."""
    idle: bool | None = None
    """Its last account: nothing runs, nothing waits. None where it gives none."""


def shed(known: Shedding, now: int, retry_after: int = 0) -> Shedding:
    """It shed one more request; `retry_after` in nanoseconds. The later wish wins."""
    return replace(
        known,
        since=now if known.since is None else known.since,
        last=now,
        streak=known.streak + 1,
        until=max(known.until, now + retry_after),
    )


def account(known: Shedding, now: int, idle: bool | None) -> Shedding:
    """What it says of itself at `now`; None when it did not say."""
    if known.since is None:
        return known
    return replace(known, idle=idle, since=now if idle is False else known.since)


def sign(known: Shedding, wedge_after: int) -> Sign:
    """What to think of it."""
    if known.since is None or known.idle is False or known.last - known.since < wedge_after:
        return Sign.well
    return Sign.wedged if known.idle else Sign.suspect


def penalty(known: Shedding, now: int) -> int:
    """How much more loaded than it looks a worker is that sheds.

    Who fails fast always has the least under way; without this it would get nearly everything. It
    doubles with each shed in a row and halves with each second of quiet, so that one request at a
    time finds out whether it is over.
    """
    quiet = (now - known.last) // _HALVES_EVERY
    return (1 << min(known.streak, _DOUBLINGS)) >> quiet if known.streak and quiet <= 64 else 0


def eases_at(known: Shedding, now: int) -> int | None:
    """When the penalty is half of what it is now; None when there is none."""
    if not penalty(known, now):
        return None
    return known.last + ((now - known.last) // _HALVES_EVERY + 1) * _HALVES_EVERY
