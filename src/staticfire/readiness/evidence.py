"""Evidence: a verdict with when, which generation, why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from staticfire.readiness.verdict import Source, Verdict

__all__ = ["Evidence", "Identity", "News", "Process", "Turn"]


@dataclass(frozen=True, slots=True)
class Identity:
    """Which process a service is: its pid is recycled, its pid with its start time is not.

    Values that the caller gives and the cores only compare. `started` is the kernel's start time
    of the process, in whatever unit the caller reads it; `nonce` tells two starts of one service
    apart where neither pid nor start time can (another machine, another container).
    """

    pid: int
    started: int
    nonce: str = ""

    def may_be(self, other: Identity | None) -> bool:
        """False when the two are known to be different processes."""
        if other is None:
            return True
        nonces = {self.nonce, other.nonce} - {""}
        return (self.pid, self.started) == (other.pid, other.started) and len(nonces) < 2


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one check found.

    `at` is when the check ended, `began` when it started, `retry_after` how long the engine asked
    to be left alone: nanoseconds. `reason` is one sentence without a URL.
    """

    verdict: Verdict
    at: int
    generation: int = 1
    reason: str = ""
    retry_after: int | None = None
    models: tuple[str, ...] = ()
    """The ids that a whole model list named."""
    source: Source = Source.CHAT
    began: int | None = None
    refused: bool = False
    """The connection was refused: the life that earlier evidence spoke of is over."""
    hung: bool = False
    """The deadline passed, and the engine gives no account of why."""
    named: bool | None = None
    """Whether a whole model list named the model; None when no whole list was read."""
    model: str | None = None
    """The id that the check was about."""
    status: int | None = None
    """The HTTP status that decided, when one did."""
    paused: str = ""
    """`asleep` or `paused`, when the engine itself says so: up, and idle on purpose."""
    tokens: float | None = None
    """Tokens that it has generated, when its own account was what spoke against a probe."""
    owner: Identity | None = None
    """Whose process answered, when the caller could tell."""

    @property
    def started(self) -> int:
        """When the check started, in nanoseconds."""
        return self.at if self.began is None else self.began

    def moved(self, by: int) -> Evidence:
        """The same evidence on a clock that is `by` nanoseconds ahead, the boot clock say."""
        began = None if self.began is None else self.began + by
        return replace(self, at=self.at + by, began=began)


class Turn(StrEnum):
    """What became of a service's process."""

    BEGAN = "began"
    """A new life, with its identity: what was known of the old one counts for nothing."""
    PROGRESSED = "progressed"
    """It shows signs of loading (log lines, a download): the start-up budget counts anew."""
    EXITED = "exited"
    """It is dead: exited, killed, a zombie, or its pid belongs to another by now."""
    STOPPED = "stopped"
    """It was stopped on purpose."""
    RESTARTING = "restarting"
    """It is being ended, so that a new one can begin."""


@dataclass(frozen=True, slots=True)
class Process:
    """News of a service's process. Only whoever owns the process has any."""

    turn: Turn
    at: int
    generation: int | None = None
    """The generation that it is about; None for the current one."""
    reason: str = ""
    identity: Identity | None = None
    """With `began`: who it is."""


News = Evidence | Process
"""What changes a record."""
