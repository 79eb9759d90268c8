"""A life as a pure function of now: which phase an engine is in, on [start, end).

`Walk` is where an engine stands in its life; every function takes it with `now` (ns) and returns
the next one. After the last phase an engine serves for ever.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace

from staticfire.clock import ns
from staticfire.engine.phases import Phase, Serving

__all__ = ["Walk", "advance", "after_request", "next_edge", "phase_of", "skip", "step"]

REST = Serving()


@dataclass(frozen=True, slots=True)
class Walk:
    """A life, the index of its phase, when that phase began (ns) and its requests so far."""

    life: tuple[Phase, ...]
    since: int
    index: int = 0
    requests: int = 0


def phase_of(walk: Walk) -> Phase:
    """The phase that a walk stands in."""
    return walk.life[walk.index] if walk.index < len(walk.life) else REST


def next_edge(walk: Walk) -> int | None:
    """When the phase ends by time (ns); None when time does not end it."""
    seconds = phase_of(walk).seconds
    return None if seconds is None else walk.since + ns(seconds)


def skip(walk: Walk, now: int) -> Walk:
    """The phase ends now, whatever it says."""
    return replace(walk, index=walk.index + 1, since=now, requests=0)


def step(walk: Walk, now: int, released: Container[str] = ()) -> Walk | None:
    """The walk in its next phase, or None while the phase it stands in goes on at `now`.

    A phase that time ends gives way at its edge, however late this is asked.
    """
    phase = phase_of(walk)
    edge = next_edge(walk)
    if edge is not None and edge <= now:
        return skip(walk, edge)
    if (phase.requests is not None and walk.requests >= phase.requests) or (
        phase.hold is not None and phase.hold in released
    ):
        return skip(walk, now)
    return None


def advance(walk: Walk, now: int, released: Container[str] = ()) -> Walk:
    """Where the walk stands at `now`, given the holds that were released."""
    while (following := step(walk, now, released)) is not None:
        walk = following
    return walk


def after_request(walk: Walk) -> Walk:
    """The walk after one more inference request was taken in this phase."""
    return walk if walk.index >= len(walk.life) else replace(walk, requests=walk.requests + 1)
