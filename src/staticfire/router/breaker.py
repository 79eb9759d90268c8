"""Whether a worker may be asked, learned from how it answered.

Theory. A breaker is closed (ask freely), open (do not ask until the cool-down is over) or
half-open (ask exactly one probe). Every admitted attempt holds a permit; its outcome comes back
with that permit. The permit carries the epoch of the breaker at admission, so an answer from
before the last transition is told from the probe's own.

    state      success      error                         backpressure   cancelled
    closed     streak to 0  streak + 1, opens at the      no change      no change
                            threshold
    open       no change    no change, the cool-down is   no change      no change
                            not extended
    half-open  closes       own: opens, new cool-down     closes         own: slot freed
                            older: no change              (it is alive)  older: no change

A client's error (4xx) is a success here. In half-open any answer, an old one too, closes: an
answer proves life. An old error proves nothing about now. Backpressure keeps the streak in
closed: 500, 500, 503, 500 still opens at a threshold of three.

Pure: nothing here reads a clock; `now` is an argument, in nanoseconds.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from msgspec import Struct

from staticfire.router.outcome import Outcome

__all__ = ["TABLE", "Action", "Breaker", "BreakerSettings", "Permit", "State"]


class State(enum.IntEnum):
    """The state, with the number that the gauge shows."""

    closed = 0
    open = 1
    half_open = 2

    def __str__(self) -> str:
        return self.name.replace("_", "-")


class Action(enum.Enum):
    """What one cell of the table does."""

    none = "no change"
    reset = "streak to 0"
    count = "streak + 1, opens at the threshold"
    close = "closes"
    reopen = "opens, new cool-down"
    free = "slot freed"


_OWN, _OLD = True, False

TABLE: dict[tuple[State, Outcome, bool], Action] = {
    (State.closed, Outcome.success, _OWN): Action.reset,
    (State.closed, Outcome.success, _OLD): Action.reset,
    (State.closed, Outcome.client_error, _OWN): Action.reset,
    (State.closed, Outcome.client_error, _OLD): Action.reset,
    (State.closed, Outcome.error, _OWN): Action.count,
    (State.closed, Outcome.error, _OLD): Action.count,
    (State.closed, Outcome.backpressure, _OWN): Action.none,
    (State.closed, Outcome.backpressure, _OLD): Action.none,
    (State.closed, Outcome.cancelled, _OWN): Action.none,
    (State.closed, Outcome.cancelled, _OLD): Action.none,
    (State.open, Outcome.success, _OWN): Action.none,
    (State.open, Outcome.success, _OLD): Action.none,
    (State.open, Outcome.client_error, _OWN): Action.none,
    (State.open, Outcome.client_error, _OLD): Action.none,
    (State.open, Outcome.error, _OWN): Action.none,
    (State.open, Outcome.error, _OLD): Action.none,
    (State.open, Outcome.backpressure, _OWN): Action.none,
    (State.open, Outcome.backpressure, _OLD): Action.none,
    (State.open, Outcome.cancelled, _OWN): Action.none,
    (State.open, Outcome.cancelled, _OLD): Action.none,
    (State.half_open, Outcome.success, _OWN): Action.close,
    (State.half_open, Outcome.success, _OLD): Action.close,
    (State.half_open, Outcome.client_error, _OWN): Action.close,
    (State.half_open, Outcome.client_error, _OLD): Action.close,
    (State.half_open, Outcome.error, _OWN): Action.reopen,
    (State.half_open, Outcome.error, _OLD): Action.none,
    (State.half_open, Outcome.backpressure, _OWN): Action.close,
    (State.half_open, Outcome.backpressure, _OLD): Action.close,
    (State.half_open, Outcome.cancelled, _OWN): Action.free,
    (State.half_open, Outcome.cancelled, _OLD): Action.none,
}
"""What an outcome does: (state, outcome, whether the permit is the current probe's) to action."""


@dataclass(frozen=True, slots=True)
class BreakerSettings:
    """`threshold` errors in a row open; `cool_down` is in nanoseconds; `enabled` False never opens."""

    threshold: int = 5
    cool_down: int = 30_000_000_000
    enabled: bool = True


class Permit(Struct, frozen=True):
    """Leave to ask a worker once; give it back with the outcome, exactly once."""

    epoch: int
    probe: bool


class Breaker:
    """One worker's breaker."""

    __slots__ = ("_epoch", "_opened", "_probe", "_settings", "_streak", "state")

    def __init__(self, settings: BreakerSettings | None = None) -> None:
        self._settings = settings or BreakerSettings()
        self.state = State.closed
        """As last moved; an open breaker past its cool-down moves at the next admit."""
        self._streak = 0
        self._opened = 0
        self._epoch = 0
        self._probe: Permit | None = None

    @property
    def streak(self) -> int:
        """Errors in a row while closed."""
        return self._streak

    def would_admit(self, now: int) -> bool:
        """Whether `admit` would give a permit at `now`. Changes nothing."""
        if self.state is State.closed:
            return True
        if self.state is State.open:
            return now - self._opened >= self._settings.cool_down
        return self._probe is None

    def reopens_at(self) -> int | None:
        """When an open breaker's cool-down is over, in nanoseconds; None unless open."""
        return self._opened + self._settings.cool_down if self.state is State.open else None

    def admit(self, now: int) -> Permit | None:
        """A permit to ask the worker now, or None. The first after a cool-down is the probe."""
        if self.state is State.closed:
            return Permit(self._epoch, probe=False)
        if not self.would_admit(now):
            return None
        if self.state is State.open:
            self.state = State.half_open
        self._epoch += 1
        self._probe = Permit(self._epoch, probe=True)
        return self._probe

    def record(self, permit: Permit, outcome: Outcome, now: int) -> None:
        """Take back a permit with what its attempt came to."""
        action = TABLE[self.state, outcome, permit == self._probe]
        if action is Action.reset:
            self._streak = 0
        elif action is Action.count:
            self._streak += 1
            if self._settings.enabled and self._streak >= self._settings.threshold:
                self._open(now)
        elif action is Action.close:
            self.renew()
        elif action is Action.reopen:
            self._open(now)
        elif action is Action.free:
            self._probe = None

    def renew(self) -> None:
        """The worker began a new life: what an older one came to counts for nothing."""
        self.state = State.closed
        self._streak = 0
        self._epoch += 1
        self._probe = None

    def _open(self, now: int) -> None:
        self.state = State.open
        self._opened = now
        self._epoch += 1
        self._probe = None
