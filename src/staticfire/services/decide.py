"""What to do about a service: the rules of death and restart.

    (service, now)        -> decision   decide
    (service, facts, now) -> service    looked, and what a decision makes of the record

No I/O, no clock: `now` is an argument, boot-clock nanoseconds. Who is failed is the readiness
core's to say: a dead process, or a start-up budget used up before the first listing.

| its status                       | and                             | decision             |
|----------------------------------|---------------------------------|----------------------|
| stopped                          |                                 | nothing              |
| any                              | given up                        | nothing              |
| recovering                       | its pause is not over           | nothing              |
| recovering                       | its pause is over, or has none  | start                |
| failed                           | restarts in a row are left      | rest, for a pause    |
| failed                           | none is left                    | give up              |
| any other, degraded for one      |                                 | nothing              |

Whoever rests or gives up ends first what is left of the process.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from staticfire.clock import ns
from staticfire.readiness import core
from staticfire.readiness.evidence import Process, Turn
from staticfire.readiness.record import Record
from staticfire.readiness.verdict import Status
from staticfire.services.service import Life, Service

__all__ = [
    "MOVED",
    "Decision",
    "Do",
    "Facts",
    "begun",
    "cannot_start",
    "decide",
    "gave_up",
    "looked",
    "rebooted",
    "rested",
    "settled",
    "started",
    "stopped",
]

MOVED = 1 << 20
"""So many bytes read or written since the last look are progress: a download, a load."""


class Do(StrEnum):
    """What a supervisor may do."""

    NOTHING = "nothing"
    REST = "rest"
    START = "start"
    GIVE_UP = "give up"


@dataclass(frozen=True, slots=True)
class Facts:
    """What one look at the machine found."""

    alive: bool
    death: str = ""
    """How it ended, when it is dead."""
    exit: int | None = None
    log: int = 0
    """The size of its log."""
    io: int = 0
    """Bytes that its processes have read and written."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do and why; `at` is when there may be more to do, in nanoseconds."""

    do: Do
    why: str = ""
    at: int | None = None


def decide(service: Service, now: int) -> Decision:
    """What to do now."""
    record, streak = service.readiness, service.streak
    if record.status is Status.STOPPED or service.given_up:
        return Decision(Do.NOTHING, service.given_up or "it was stopped")
    if record.status is Status.RECOVERING:
        if service.resting_until is not None and now < service.resting_until:
            return Decision(Do.NOTHING, "it rests before its restart", service.resting_until)
        return Decision(Do.START, record.reason)
    if record.status is not Status.FAILED:
        return Decision(Do.NOTHING, "only its death would restart it")
    if streak >= service.patience.restarts:
        row = f"after {streak} restarts in a row" if streak else "it is not to be restarted"
        return Decision(Do.GIVE_UP, f"{record.reason}; given up: {row}")
    return Decision(Do.REST, record.reason, now + service.patience.pause(streak))


# -- what facts and decisions make of the record


def looked(service: Service, facts: Facts, now: int) -> Service:
    """The record after a look at its process: a death is told once, progress is counted."""
    life, record = service.life, service.readiness
    if record.exited or record.status in (Status.STOPPED, Status.RECOVERING):
        return service
    if not facts.alive:
        over = replace(life, died=now, death=facts.death, exit=facts.exit)
        reason = facts.death if life.began is None else f"{facts.death} after {_age(life, now)}"
        return replace(service, life=over, lease=None, readiness=_news(
            record, Turn.EXITED, now, reason))  # fmt: skip
    if record.came_up:
        return service
    progress = facts.log != life.log or facts.io - life.io >= MOVED
    if not progress and facts.io >= life.io:
        return service
    began = now if life.began is None else life.began
    if progress and now - began < ns(service.patience.startup_at_most):
        record = _news(record, Turn.PROGRESSED, now)
    return replace(service, life=replace(life, log=facts.log, io=facts.io), readiness=record)


def begun(service: Service, nonce: str, now: int) -> Service:
    """A process is about to be started: nothing that was known of an old one counts."""
    return replace(
        service,
        life=Life(number=service.life.number + 1, nonce=nonce, began=now),
        readiness=_news(service.readiness, Turn.BEGAN, now),
        resting_until=None,
        given_up="",
        lease=None,
    )


def started(service: Service, pid: int, start: int, now: int) -> Service:
    """It was started: this process is the service now."""
    life = replace(service.life, pid=pid, start=start)
    record = service.readiness
    record, _ = core.observe(record, Process(Turn.BEGAN, now, identity=life.identity), now)
    return replace(service, life=life, readiness=record)


def cannot_start(service: Service, why: str, now: int) -> Service:
    """Its command could not be started."""
    life = replace(service.life, died=now, death=why)
    return replace(service, life=life, readiness=_news(service.readiness, Turn.EXITED, now, why))


def rested(service: Service, decision: Decision, now: int) -> Service:
    """It will be started again when the pause is over."""
    record = _news(service.readiness, Turn.RESTARTING, now, decision.why)
    return replace(service, resting_until=decision.at, readiness=record, lease=None)


def gave_up(service: Service, decision: Decision, now: int) -> Service:
    """It stays dead until somebody starts it."""
    record = _news(service.readiness, Turn.EXITED, now, decision.why)
    return replace(service, given_up=decision.why, resting_until=None, readiness=record, lease=None)


def stopped(service: Service, now: int, why: str = "stopped") -> Service:
    """Somebody stopped it: a pass that is still under way counts for nothing."""
    record = _news(service.readiness, Turn.STOPPED, now, why)
    return replace(service, resting_until=None, given_up="", readiness=record, lease=None)


def settled(service: Service, now: int) -> Service:
    """A life that is ready and has lasted ends the row of restarts."""
    began = service.life.began
    if not service.streak or began is None or not service.readiness.ready:
        return service
    if now - began < ns(service.patience.steady_after):
        return service
    return replace(service, streak=0)


def rebooted(service: Service, boot: str, now: int) -> Service:
    """A record of an earlier run of the machine: its process is dead, its times say nothing.

    Counts stay; a service that rested is due at once.
    """
    if service.boot == boot:
        return service
    life, record = service.life, service.readiness
    if life.number:
        why = "the machine was started again"
        record = _news(record, Turn.EXITED, now, why)
        life = Life(number=life.number, nonce=life.nonce, death=life.death or why, exit=life.exit)
    record = replace(record, since=now, began_at=None, next_probe=None, attempt_at=None)
    resting = None if service.resting_until is None else now
    return replace(
        service, boot=boot, life=life, readiness=record, resting_until=resting, lease=None
    )


def _news(record: Record, turn: Turn, now: int, reason: str = "") -> Record:
    return core.observe(record, Process(turn, now, reason=reason), now)[0]


def _age(life: Life, now: int) -> str:
    seconds = max(0, now - (life.began or 0)) / ns(1)
    return f"{seconds:.1f} s" if seconds < 60 else f"{seconds / 60:.0f} min"
