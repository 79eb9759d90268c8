"""What is shown of a service: one value for the list, the report of `serve`, and JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from staticfire.clock import seconds
from staticfire.readiness import core
from staticfire.readiness.record import Record
from staticfire.readiness.verdict import Status, Verdict
from staticfire.services.check import Checked
from staticfire.services.decide import looked
from staticfire.services.service import Service

__all__ = ["ANSWERS", "SILENT", "View", "counts", "view"]

ANSWERS = "answers but cannot serve yet"
SILENT = "has not answered yet"

COMING = frozenset((Status.STARTING, Status.RUNNING))


@dataclass(frozen=True, slots=True)
class View:
    """One service. Times in seconds; None reads as n/a."""

    name: str
    status: str
    reason: str
    coming: str
    """For one that is still coming up: how far it is. Empty otherwise."""
    finding: str
    """What the last check found, where the record does not say so."""
    url: str
    model: str | None
    pid: int | None
    alive: bool
    life: int
    restarts: int
    since: float | None
    """How long it has had this status."""
    smoke_test: str | None
    """None when none ran in this life."""
    answered_in: float | None
    next_check: str
    next_probe_in: float | None
    """No chat request is sent before that; None when none is wanted."""
    exit: int | None
    log: str
    command: tuple[str, ...]
    history: tuple[str, ...]

    def json(self) -> dict[str, Any]:
        """For machines."""
        return asdict(self)


def view(checked: Checked, now: int, *, supervisor: int | None = None) -> View:
    """What is shown at `now`, boot-clock nanoseconds. `supervisor` is the pid of the one at work.

    A dead process is shown as dead also where nobody has written that down.
    """
    service = looked(checked.service, checked.facts, now)
    record, life = service.readiness, service.life
    finding = _finding(checked, record)
    status, reason = str(record.status), record.reason
    if record.status is Status.RECOVERING and supervisor is None:
        status, reason = str(Status.FAILED), f"{reason}; nobody supervises it"
    due = core.plan(record, now, service.patience.settings().limits).at
    wait = None if due is None else max(0.0, round(seconds(due - now), 1))
    return View(
        name=service.name,
        status=status,
        reason=reason,
        coming=_coming(service),
        finding=finding,
        url=service.url,
        model=service.model or record.served_model,
        pid=life.pid,
        alive=checked.facts.alive,
        life=life.number,
        restarts=service.restarts,
        since=None if record.since is None else max(0.0, round(seconds(now - record.since), 1)),
        smoke_test=None if life.smoked is None else "passed",
        answered_in=None if life.answered_in is None else round(seconds(life.answered_in), 3),
        next_check=_next(record.status, wait, supervisor),
        next_probe_in=wait,
        exit=life.exit,
        log=service.log,
        command=service.command,
        history=service.history,
    )


def _finding(checked: Checked, record: Record) -> str:
    """What the last check found against it, where the record goes by earlier evidence."""
    found = checked.found
    if found is None or found.reason == record.reason or record.status is Status.FAILED:
        return ""
    return "" if found.verdict in (Verdict.LISTING, Verdict.SERVING) else found.reason


def _coming(service: Service) -> str:
    record = service.readiness
    if record.status not in COMING:
        return ""
    if record.reached or record.came_up:
        return ANSWERS
    return SILENT


def _next(status: Status, wait: float | None, supervisor: int | None) -> str:
    if status in (Status.FAILED, Status.STOPPED):
        return "none: it is not running"
    if supervisor is None:
        who = "with the next `staticfire services list` or `staticfire wait`; nobody supervises it"
    else:
        who = f"by the supervisor (pid {supervisor}), at its next tick"
    return f"{who}; a chat request not before {wait:g} s from now" if wait else who


def counts(views: list[View]) -> str:
    """How many there are of each status: a service that loads is never counted as ready."""
    total = f"{len(views)} service{'' if len(views) == 1 else 's'}"
    by = {str(status): 0 for status in reversed(Status)}
    for one in views:
        by[one.status] = by.get(one.status, 0) + 1
    by = {"ready": by.pop("ready"), **by}
    told = [f"{number} {status}" for status, number in by.items() if number or status == "ready"]
    return f"{total}: {', '.join(told)}" if views else "no services"
