"""The transition table of readiness: status and sign to status.

A sign is what a piece of news amounts to after counting (`signs.read`): one failed probe is a
`blip`, the second in a row is `failing`. The table is the whole of the rest; a test walks it cell
by cell, and `docs/reference/readiness.md` shows it.

| from, sign     | listed  | back    | unlisted | proven   | mending  | busy     | blip     | failing  |
|----------------|---------|---------|----------|----------|----------|----------|----------|----------|
| starting       | running | running | -        | ready    | -        | -        | -        | -        |
| running        | -       | -       | -        | ready    | -        | -        | -        | -        |
| ready          | -       | -       | running  | -        | -        | -        | -        | degraded |
| degraded       | -       | ready   | running  | ready    | -        | -        | -        | -        |
| misconfigured  | -       | running | -        | ready    | -        | running  | running  | running  |
| failed         | running | running | -        | ready    | -        | -        | -        | -        |

| from, sign     | refusing | refused       | paused   | ended    | overdue |
|----------------|----------|---------------|----------|----------|---------|
| starting       | -        | misconfigured | running  | -        | failed  |
| running        | -        | misconfigured | -        | starting | -       |
| ready          | -        | misconfigured | degraded | starting | -       |
| degraded       | -        | misconfigured | -        | starting | -       |
| misconfigured  | -        | -             | running  | starting | -       |
| failed         | -        | misconfigured | running  | -        | -       |

| from, sign              | began    | exited | stopped | restarting | nothing |
|-------------------------|----------|--------|---------|------------|---------|
| any but the two below   | starting | failed | stopped | recovering | -       |
| recovering              | starting | -      | stopped | -          | -       |
| stopped                 | starting | -      | -       | recovering | -       |

`-` stays. What is being restarted or was stopped listens to nothing but its process: a late pass
of a probe that was under way does not bring it back.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from staticfire.readiness.verdict import Status

__all__ = ["TABLE", "Sign", "after"]


class Sign(StrEnum):
    """What news amounts to."""

    LISTED = "listed"
    """A whole list names the model."""
    BACK = "back"
    """The same, and listings were all that stood against it."""
    UNLISTED = "unlisted"
    """A whole list does not name the model, or names none."""
    PROVEN = "proven"
    """A request was answered; after a failure, as often in a row as it takes."""
    MENDING = "mending"
    """An answer of one that failed, not enough of them yet."""
    BUSY = "busy"
    """It asks to come back later."""
    BLIP = "blip"
    """It failed, not often enough to matter."""
    FAILING = "failing"
    """It failed as often in a row as it takes."""
    REFUSING = "refusing"
    """It refuses what a user would send; engines do so while they warm up."""
    REFUSED = "refused"
    """It has been refusing for long and often enough, or a foreign process answered."""
    PAUSED = "paused"
    """It says that it is asleep or paused."""
    ENDED = "ended"
    """A connect was refused: this life is over, or has not begun to listen."""
    OVERDUE = "overdue"
    """The start-up budget was used up before the first listing."""
    BEGAN = "began"
    EXITED = "exited"
    STOPPED = "stopped"
    RESTARTING = "restarting"
    NOTHING = "nothing"
    """It says nothing about the status."""


def _row(status: Status, own: Mapping[Sign, Status]) -> Mapping[Sign, Status]:
    whole = dict.fromkeys(Sign, status)
    whole |= {
        Sign.BEGAN: Status.STARTING,
        Sign.EXITED: Status.FAILED,
        Sign.STOPPED: Status.STOPPED,
        Sign.RESTARTING: Status.RECOVERING,
    }
    return MappingProxyType(whole | dict(own))


_OWN: Mapping[Status, Mapping[Sign, Status]] = {
    Status.STARTING: {
        Sign.LISTED: Status.RUNNING,
        Sign.BACK: Status.RUNNING,
        Sign.PROVEN: Status.READY,
        Sign.REFUSED: Status.MISCONFIGURED,
        Sign.PAUSED: Status.RUNNING,
        Sign.OVERDUE: Status.FAILED,
    },
    Status.RUNNING: {
        Sign.PROVEN: Status.READY,
        Sign.REFUSED: Status.MISCONFIGURED,
        Sign.ENDED: Status.STARTING,
    },
    Status.READY: {
        Sign.UNLISTED: Status.RUNNING,
        Sign.FAILING: Status.DEGRADED,
        Sign.REFUSED: Status.MISCONFIGURED,
        Sign.PAUSED: Status.DEGRADED,
        Sign.ENDED: Status.STARTING,
    },
    Status.DEGRADED: {
        Sign.BACK: Status.READY,
        Sign.UNLISTED: Status.RUNNING,
        Sign.PROVEN: Status.READY,
        Sign.REFUSED: Status.MISCONFIGURED,
        Sign.ENDED: Status.STARTING,
    },
    Status.MISCONFIGURED: {
        Sign.BACK: Status.RUNNING,
        Sign.PROVEN: Status.READY,
        Sign.BUSY: Status.RUNNING,
        Sign.BLIP: Status.RUNNING,
        Sign.FAILING: Status.RUNNING,
        Sign.PAUSED: Status.RUNNING,
        Sign.ENDED: Status.STARTING,
    },
    Status.FAILED: {  # by its budget: the process lives, and may still come up
        Sign.LISTED: Status.RUNNING,
        Sign.BACK: Status.RUNNING,
        Sign.PROVEN: Status.READY,
        Sign.REFUSED: Status.MISCONFIGURED,
        Sign.PAUSED: Status.RUNNING,
    },
    Status.RECOVERING: {Sign.EXITED: Status.RECOVERING},
    Status.STOPPED: {Sign.EXITED: Status.STOPPED},
}

TABLE: Mapping[Status, Mapping[Sign, Status]] = MappingProxyType(
    {status: _row(status, own) for status, own in _OWN.items()}
)
"""Every status under every sign."""


def after(status: Status, sign: Sign) -> Status:
    """The status that follows."""
    return TABLE[status][sign]
