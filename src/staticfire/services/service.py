"""The record of a service: what was asked for, which life it is in, what is known of it.

Times are boot-clock nanoseconds, which every process of this machine shares and no clock setting
moves; `wall` times are for people to read and decide nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from math import isfinite

from staticfire.clock import ns
from staticfire.errors import WrongInput
from staticfire.readiness.evidence import Identity
from staticfire.readiness.record import Record
from staticfire.readiness.settings import Settings
from staticfire.readiness.verdict import Status

__all__ = ["Lease", "Life", "Patience", "Service"]

HISTORY = 20
"""How many of a service's changes are kept."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a service is given, in seconds. Raises WrongInput."""

    startup: float = 300.0
    """From the start, or the last progress, to the first listing."""
    startup_at_most: float = 7200.0
    """The same with any progress: a log may grow for ever."""
    first_pause: float = 1.0
    """Before the first restart; it doubles with each one."""
    pause_at_most: float = 300.0
    restarts: int = 8
    """Restarts in a row, then it is given up."""
    steady_after: float = 600.0
    """A life of that length that is ready ends the row."""
    grace: float = 10.0
    """From the first TERM to the second when it is stopped."""
    throttle: float = 15.0
    """These four are the readiness core's."""
    probe_deadline: float = 8.0
    listing_deadline: float = 2.0
    latch: float | None = 300.0
    """How long an answer is good without a new probe; None for ever."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if value is not None and (not isfinite(value) or value < 0):
                raise WrongInput(
                    one.name.replace("_", " "), expected="no less than zero", found=repr(value)
                )

    def settings(self, *, interval: float = 15.0, accept: str = "proven") -> Settings:
        """For the readiness core; a busy engine is asked again after `interval`."""
        return Settings(
            startup_budget=self.startup or 1e-9,
            throttle=self.throttle,
            probe_deadline=self.probe_deadline,
            listing_deadline=self.listing_deadline,
            fresh_for=self.latch or 0.0,
            latch_forever=self.latch is None,
            interval=interval,
            accept=accept,
        )

    def pause(self, streak: int) -> int:
        """How long to rest before the next restart, after `streak` of them in a row."""
        doubled = self.first_pause * 2.0 ** min(streak, 60)
        return ns(min(doubled, self.pause_at_most))


@dataclass(frozen=True, slots=True)
class Life:
    """One process of a service, from its start to its end."""

    number: int = 0
    """0 before the first one."""
    nonce: str = ""
    """Kept before the process is started, so that none is lost between the two."""
    pid: int | None = None
    start: int | None = None
    """Its start time in clock ticks: with the pid it names one process and no other."""
    began: int | None = None
    log: int = 0
    io: int = 0
    """What of its log, and of its input and output, has been seen."""
    smoked: int | None = None
    """When the strict smoke test passed."""
    answered_in: int | None = None
    """How long that answer took."""
    died: int | None = None
    death: str = ""
    """How it ended: "exited with 1", "killed by SIGKILL", "its process is gone"."""
    exit: int | None = None
    """Its exit status where we were its parent; negative for a signal."""

    @property
    def identity(self) -> Identity | None:
        """Who it is, for the readiness core."""
        if self.pid is None or self.start is None:
            return None
        return Identity(self.pid, self.start, self.nonce)


@dataclass(frozen=True, slots=True)
class Lease:
    """Who probes now, and until when at the most."""

    pid: int
    start: int
    until: int


@dataclass(frozen=True, slots=True)
class Service:
    """What is kept of one service."""

    name: str
    command: tuple[str, ...]
    url: str
    port: int | None = None
    """Ours to listen on; None where `--url` says that the engine listens elsewhere."""
    model: str | None = None
    folder: str = ""
    log: str = ""
    key_env: str | None = None
    """The variable, of the environment it is started in, with the key that its API wants."""
    key_file: str | None = None
    """The file with that key. The key itself is kept nowhere."""
    patience: Patience = field(default_factory=Patience)
    life: Life = field(default_factory=Life)
    readiness: Record = field(default_factory=Record)
    restarts: int = 0
    """All of them; a crash of whoever restarts does not lose any."""
    streak: int = 0
    """Those since it last was steady."""
    resting_until: int | None = None
    """It is dead, and is to come back then."""
    given_up: str = ""
    """Why it does not come back by itself."""
    lease: Lease | None = None
    boot: str = ""
    """The run of the machine that the times are of."""
    made: float = 0.0
    """Wall time."""
    history: tuple[str, ...] = ()
    version: int = 0
    """Counts the writes; the store's own, for compare-and-swap."""

    @property
    def status(self) -> Status:
        """The one word for what it is."""
        return self.readiness.status

    def noted(self, wall: float, what: str) -> Service:
        """The service with one more line of history."""
        stamp = datetime.fromtimestamp(wall, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return replace(self, history=(*self.history, f"{stamp} {what}")[-HISTORY:])
