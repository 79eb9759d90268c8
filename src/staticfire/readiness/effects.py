"""What a change of a record asks its keeper to do: values, nothing is done here."""

from __future__ import annotations

from dataclasses import dataclass

from staticfire.readiness.verdict import Status

__all__ = ["Effect", "Probe", "Restart", "Show"]


@dataclass(frozen=True, slots=True)
class Probe:
    """A probe is due at `at` nanoseconds: now, when that is not in the future."""

    at: int


@dataclass(frozen=True, slots=True)
class Show:
    """The status changed: tell it, once."""

    before: Status
    status: Status
    reason: str


@dataclass(frozen=True, slots=True)
class Restart:
    """A restart is allowed, as far as readiness knows; pace and bound are the supervisor's."""

    reason: str


Effect = Probe | Show | Restart
