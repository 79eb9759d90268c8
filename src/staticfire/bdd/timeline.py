"""What happened in one scenario, read from its world for the report."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from staticfire.bdd.marks import Mark, steps_of
from staticfire.bdd.world import World
from staticfire.engine import MockEngine
from staticfire.engine.ask import ENDPOINTS, INFERENCE
from staticfire.engine.invariants import ID, session_of
from staticfire.judge import End
from staticfire.report.results import Breaker, Line, Phase, Request, Timeline
from staticfire.report.thinning import lines

__all__ = ["by_name", "timeline"]

ROUTES = frozenset(ENDPOINTS[name] for name in INFERENCE)


def timeline(world: World, steps: list[str], marks: Sequence[Mark] = ()) -> Timeline:
    """The engines' phases, what they and the clients saw, the router's log, the steps."""
    mocks = [engine for engine in world.engines.values() if isinstance(engine, MockEngine)]
    end = round(world.seconds, 3)
    requests = [one for engine in mocks for one in _arrived(engine, world, marks)]
    requests += _failed(world, marks)
    return Timeline(
        seconds=end,
        engines=tuple(world.engines),
        phases=tuple(phase for engine in mocks for phase in _phases(engine, world, end, marks)),
        requests=tuple(sorted(requests, key=lambda one: one.at)),
        breakers=tuple(_breakers(marks)),
        router=tuple(lines(tuple(_told(world, marks)), LOG)),
        steps=tuple(Line(float(text[:10]), text[14:], n) for n, text in enumerate(steps)),
    )


def _at(world: World, when: int) -> float:
    return round(world.since_start(when), 3)


def _arrived(engine: MockEngine, world: World, marks: Sequence[Mark]) -> Iterator[Request]:
    """The inference requests that an engine saw."""
    requests = engine.journal.requests()
    places = [row.seq for row in engine.journal.rows if row.what == "request"]
    steps = steps_of([one.rows.get(engine.name, 0) for one in marks], places)
    steps += [None] * (len(requests) - len(steps))
    for one, step in zip(requests, steps, strict=False):
        if f"{one.method} {one.path}" in ROUTES:
            yield Request(
                engine=engine.name,
                at=_at(world, one.at),
                until=None if one.ended_at is None else _at(world, one.ended_at),
                status=one.status,
                ended=one.ended,
                id=one.headers.get(ID),
                session=session_of(one),
                step=step,
            )


def _failed(world: World, marks: Sequence[Mark]) -> Iterator[Request]:
    """What clients got instead of a whole answer below 400."""
    steps = steps_of([one.answers for one in marks], range(len(world.answers)))
    for one, step in zip(world.answers, steps, strict=True):
        if not (one.end is End.WHOLE and one.status is not None and one.status < 400):
            at, until = _at(world, one.asked_at), _at(world, one.ended_at)
            yield Request(None, at, until, one.status, str(one.end), step=step)


def _phases(engine: MockEngine, world: World, end: float, marks: Sequence[Mark]) -> Iterator[Phase]:
    """Each stretch from a row `phase` to the next one, or to the end."""
    found: list[tuple[float, str, int, int]] = []
    generation = 1
    for row in engine.journal.rows:
        if row.what in ("phase", "stops"):
            found.append((_at(world, row.at), row.note, generation, row.seq))
        generation += row.what == "dies"
    steps = steps_of([one.rows.get(engine.name, 0) for one in marks], (one[3] for one in found))
    ends = [*(one[0] for one in found[1:]), end]
    for (begins, name, life, _), until, step in zip(found, ends, steps, strict=True):
        if name and until >= begins:
            yield Phase(engine.name, name, begins, until, life, step)


def by_name(world: World, text: str) -> str:
    """A text with engines by their names instead of this run's addresses."""
    names = {engine.url: name for name, engine in world.engines.items()}
    return re.sub(r"http://[\w.]+:\d+", lambda url: names.get(url[0], url[0]), text)


LOG, WIDTH = 200, 240
"""Lines of a router's log that are kept, and characters of each."""

COLOURS = re.compile(r"\x1b\[[\d;]*m")
"""What programs write for terminals."""


def _told(world: World, marks: Sequence[Mark]) -> Iterator[Line]:
    """The router's log."""
    told = world.told()
    timed = any(at is not None for at, _ in told)
    steps = steps_of([one.log for one in marks] if timed else [], range(len(told)))
    for (at, text), step in zip(told, steps, strict=True):
        shown = by_name(world, COLOURS.sub("", text))
        shown = shown[:WIDTH] + "…" * (len(shown) > WIDTH)
        yield Line(None if at is None else round(at, 3), shown, step)


def _breakers(marks: Sequence[Mark]) -> Iterator[Breaker]:
    """Each change of a breaker that was seen when a step began or the last one ended."""
    before: Mapping[str, str] = {}
    for step, after in enumerate(marks):
        for worker, state in after.breakers.items():
            if before.get(worker) != state:
                yield Breaker(worker, after.at, state, step)
        before = after.breakers
