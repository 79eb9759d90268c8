"""A run's results as data: what each scenario came to on each router, and what happened in it.

One JSON document a run. `RULES` is the version of the rules of reading: of these fields, of the
outcomes and of what they mean. Times are scenario seconds from the scenario's start, to the
millisecond. The small things of a timeline, of which there are thousands, are arrays in JSON.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import msgspec

from staticfire.errors import WrongInput

__all__ = [
    "RULES",
    "Breaker",
    "Line",
    "Outcome",
    "Phase",
    "Request",
    "Result",
    "Router",
    "Run",
    "Timeline",
    "read",
]

RULES = 1
"""Raised when the meaning of a field or of an outcome changes."""


class Outcome(StrEnum):
    """What one scenario came to; there are no others."""

    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    KNOWN = "known"
    """A row names the bug, and it is that bug."""
    FIXED = "fixed"
    """A row names a bug, and the scenario passed: the row must go."""
    UNSUPPORTED = "unsupported"
    """The router says that it has no such thing."""
    NOT_APPLICABLE = "not applicable"
    """The lane lacks what it needs, or no router takes part in it."""
    ERROR = "harness error"
    """The harness broke, so nothing is known of the router."""


class Phase(msgspec.Struct, frozen=True, array_like=True):
    """A stretch of an engine's life."""

    engine: str
    name: str
    at: float
    until: float
    generation: int = 1
    step: int | None = None


class Request(msgspec.Struct, frozen=True, array_like=True):
    """One inference request as an engine saw it.

    Without `engine` as a client did, where it got something else than a whole answer below 400.
    """

    engine: str | None
    at: float
    until: float | None
    status: int | None
    ended: str
    """Of an engine as in its journal; of a client whole, cut, reset, refused …"""
    id: str | None = None
    session: str | None = None
    step: int | None = None
    """The number of the step during which it came, from 0; its place within an instant."""


class Breaker(msgspec.Struct, frozen=True, array_like=True):
    """A worker's breaker from a time on."""

    worker: str
    at: float
    state: str
    step: int | None = None


class Line(msgspec.Struct, frozen=True, array_like=True):
    """Something said: a line of the router's log, a step. `at` is None where only the order is known."""

    at: float | None
    text: str
    step: int | None = None


@dataclass(frozen=True, slots=True)
class Timeline:
    """What happened in one scenario, for a picture of it."""

    seconds: float
    engines: tuple[str, ...] = ()
    phases: tuple[Phase, ...] = ()
    requests: tuple[Request, ...] = ()
    breakers: tuple[Breaker, ...] = ()
    router: tuple[Line, ...] = ()
    steps: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """What one scenario (one example of an outline) came to on one router."""

    scenario: str
    """Its @id."""
    example: str
    """The values of its example, joined by hyphens; empty without one."""
    title: str
    feature: str
    level: str | None
    router: str
    lane: str
    outcome: Outcome
    why: str = ""
    """The failure, the row's reason or what is lacking; empty for a pass."""
    failed_at: str = ""
    """The step that failed, with its place."""
    ticket: str = ""
    link: str = ""
    """A public report of the known bug."""
    wall: float = 0.0
    """Real seconds, start and stop of engines and router included."""
    replay: str = ""
    timeline: Timeline | None = None
    needs: tuple[str, ...] = ()
    """What it needs of the router, by name."""
    routed: bool = True
    """False where no router takes part: it says something of the lane by itself."""


@dataclass(frozen=True, slots=True)
class Router:
    """A router under test."""

    name: str
    version: str
    """Exact; `in this process` for a Python class."""
    command: str = ""
    """How it was started, without addresses and keys."""
    time_scale: float = 1.0


@dataclass(frozen=True, slots=True)
class Run:
    """One run on one machine."""

    suite: str
    """The version of staticfire."""
    started: str
    """ISO 8601, UTC."""
    lane: str
    seed: int
    routers: tuple[Router, ...]
    selected: int
    """Scenarios that were asked for."""
    ran: int
    """Scenarios that ran, whatever came of them."""
    machine: str = ""
    profile: str = ""
    shard: str = ""
    notes: tuple[str, ...] = ()
    """Stale rows, close calls and the like."""
    results: tuple[Result, ...] = field(default=())
    rules: int = RULES


def read(path: Path) -> Run:
    """Read a run; raises `WrongInput` for a file that is none, or of other rules."""
    try:
        run = msgspec.json.decode(path.read_bytes(), type=Run)
    except (OSError, msgspec.MsgspecError) as error:
        raise WrongInput(str(path), expected="a run's results", found=str(error)) from None
    if run.rules != RULES:
        raise WrongInput(str(path), expected=f"results of rules {RULES}", found=str(run.rules))
    return run
