"""What must hold of a whole fleet, read from its engines' journals.

    none_lost(engines, client().sent)
    none_twice(engines)

Each function raises `BrokenPromise` with names and times, or returns nothing. A client's request is
known by its `X-Request-Id`, which the judge gives to each chat request; a router relays it. Requests
without one are a router's own probes, and count for nothing here.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Protocol

from staticfire.clock import seconds
from staticfire.engine.ask import ENDPOINTS, INFERENCE
from staticfire.engine.journal import Journal, Request
from staticfire.engine.phases import PHASES
from staticfire.errors import BrokenPromise

__all__ = [
    "ID",
    "SHED",
    "Journalled",
    "none_before_ready",
    "none_lost",
    "none_twice",
    "session_of",
    "sessions_stay",
    "spread_is_even",
]

ID = "x-request-id"
"""Names a request; behind an @ the session, for routers that drop the header that says it."""
SHED = frozenset({429, 503, 529})
"""Statuses that say "not now": the engine did no work, so that asking another one is right."""
ROUTES = frozenset(ENDPOINTS[name] for name in INFERENCE)
SHOWN = 8
"""How many culprits a message names."""


class Journalled(Protocol):
    """An engine as these functions see it."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def journal(self) -> Journal:
        """What it saw."""
        ...


def session_of(request: Request) -> str | None:
    """The session that a request belongs to."""
    return request.session or request.headers.get(ID, "").partition("@")[2] or None


def of_clients(engine: Journalled) -> list[Request]:
    """The inference requests that clients sent, in the order in which they reached the engine."""
    return [
        request
        for request in engine.journal.requests()
        if f"{request.method} {request.path}" in ROUTES and ID in request.headers
    ]


def none_lost(engines: Iterable[Journalled], sent: Iterable[str]) -> None:
    """Every request that was sent was served: an engine gave it a whole answer below 400.

    `sent` are the requests' ids.
    """
    served, reached = set(), defaultdict(list)
    for engine in engines:
        for request in of_clients(engine):
            own = request.headers[ID]
            reached[own].append(f"{request.status or '…'} {request.ended} at {engine.name}")
            if request.ended == "whole" and request.status is not None and request.status < 400:
                served.add(own)
    asked = list(sent)
    lost = [own for own in asked if own not in served]
    _hold(asked, "requests to be sent")
    _hold(
        reached,
        f"{len(asked)} requests to be served; {len(asked)} were lost",
        ["no engine got a request with an X-Request-Id: none came, or a router drops it"],
    )
    _hold(
        not lost,
        f"{len(asked)} requests to be served; {len(lost)} were lost",
        [f"{own}: {', then '.join(reached[own]) or 'reached no engine'}" for own in lost],
    )


def none_before_ready(engines: Iterable[Journalled]) -> None:
    """No request of a client reached an engine that had not yet served in its present life."""
    early, seen = [], 0
    for engine in engines:
        served = _first_served(engine.journal)
        started = engine.journal.started
        for request in of_clients(engine):
            seen += 1
            if served.get(request.generation, request.at + 1) > request.at:
                at = seconds(request.at - started)
                early.append(f"{request.headers[ID]} at {engine.name}, {request.phase} at {at:g} s")
    _hold(seen, "requests of clients")
    _hold(not early, f"no request before its engine served; {len(early)} came early", early)


def none_twice(engines: Iterable[Journalled]) -> None:
    """No request did work twice: what reached engines again had been shed before (429, 503, 529)."""
    worked: defaultdict[str, list[str]] = defaultdict(list)
    for engine in engines:
        for request in of_clients(engine):
            if request.status not in SHED:
                told = f"{engine.name} ({request.status or '…'} {request.ended})"
                worked[request.headers[ID]].append(told)
    twice = {own: engines for own, engines in worked.items() if len(engines) > 1}
    _hold(worked, "requests of clients")
    _hold(
        not twice,
        f"each request to be worked on once; {len(twice)} were sent again",
        [f"{own}: {', then '.join(by)}" for own, by in twice.items()],
    )


def spread_is_even(
    engines: Iterable[Journalled], *, within: int = 1, sessions: bool = False
) -> None:
    """The engines' numbers of requests, or of sessions, differ by `within` at most."""
    counts = {
        engine.name: len({session_of(r) for r in of_clients(engine)} - {None})
        if sessions
        else len(of_clients(engine))
        for engine in engines
    }
    what = "sessions" if sessions else "requests"
    _hold(any(counts.values()), f"{what} of clients")
    apart = max(counts.values()) - min(counts.values())
    _hold(
        apart <= within,
        f"{what} spread within {within} of even; the numbers differ by {apart}",
        _histogram(counts),
    )


def sessions_stay(engines: Iterable[Journalled]) -> None:
    """Every session stays on one engine, unless that engine's process ended in between."""
    visits: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    ends: dict[str, list[int]] = {}
    for engine in engines:
        ends[engine.name] = [row.at for row in engine.journal.rows if row.what == "dies"]
        for request in of_clients(engine):
            session = session_of(request)
            if session is not None:
                visits[session].append((request.at, engine.name))
    moved = []
    for session, seen in sorted(visits.items()):
        steps = sorted(seen)
        for (before, left), (after, joined) in pairwise(steps):
            if left != joined and not any(before <= end <= after for end in ends[left]):
                moved.append(f"{session}: {left}, then {joined}")
                break
    _hold(visits, "requests that name a session")
    _hold(not moved, f"{len(visits)} sessions to stay; {len(moved)} moved", moved)


def _first_served(journal: Journal) -> dict[int, int]:
    """When each life of an engine first served (ns), by its generation."""
    served: dict[int, int] = {}
    generation, listens = 0, False
    for row in journal.rows:
        if row.what != "phase":
            continue
        began = PHASES[row.note].listens
        generation += began and not listens
        listens = began
        if row.note == "serving":
            served.setdefault(generation, row.at)
    return served


def _histogram(counts: Mapping[str, int]) -> list[str]:
    """How many engines have each number, with their names where they are few."""
    found = []
    for count, engines in sorted(Counter(counts.values()).items()):
        names = [name for name, own in counts.items() if own == count]
        who = ", ".join(names) if engines <= 4 else f"{engines} engines"
        found.append(f"{count} on {who}")
    return found


def _hold(kept: object, expected: str, came: list[str] | None = None) -> None:
    if kept:
        return
    if came is None:
        raise BrokenPromise(f"expected {expected}; there were none")
    more = [f"… and {len(came) - SHOWN} more"] if len(came) > SHOWN else []
    raise BrokenPromise(f"expected {expected}:\n  " + "\n  ".join([*came[:SHOWN], *more]))
