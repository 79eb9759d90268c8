"""What had happened when a step began, so that a report can order what happened at one instant."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from staticfire.bdd.world import World
from staticfire.engine import MockEngine

__all__ = ["Mark", "mark", "steps_of"]


@dataclass(frozen=True, slots=True)
class Mark:
    """How much each one had seen and said, and what the breakers were."""

    at: float
    answers: int
    log: int
    rows: Mapping[str, int]
    """The journal's rows, by engine."""
    breakers: Mapping[str, str]
    """The state, by worker."""


def mark(world: World) -> Mark:
    """How things stand now."""
    told = getattr(world.router, "breakers", None)
    names = {engine.url: name for name, engine in world.engines.items()}
    breakers = told() if told is not None else {}
    return Mark(
        at=round(world.seconds, 3),
        answers=len(world.answers),
        log=len(world.log),
        rows={
            name: engine.journal.length
            for name, engine in world.engines.items()
            if isinstance(engine, MockEngine)
        },
        breakers={names.get(url, url): state for url, state in breakers.items()},
    )


def steps_of(seen: Sequence[int], places: Iterable[int]) -> list[int | None]:
    """The step in which each place came, given how many there were as each step began."""
    return [max(0, bisect_right(seen, place) - 1) if seen else None for place in places]
