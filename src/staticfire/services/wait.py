"""Waiting for a service: ready, dead, misconfigured, or the time runs out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from staticfire.clock import NS, current, ns
from staticfire.readiness import core
from staticfire.readiness.verdict import Status
from staticfire.services.check import Checked, Checker

__all__ = ["LEAST", "End", "Waited", "wait"]

FIRST = 0.1
"""Seconds to the second look; each pause is twice the last, up to the interval."""

ONE_LOOK = ns(1.0)
"""The first look is not cut shorter, however little time there is."""

LEAST = ns(0.5)
"""No look begins with less time than that: it could only be cut."""


class End(IntEnum):
    """How a wait ended."""

    READY = 0
    COMING = 3
    """The time ran out, its process lives."""
    DEAD = 4
    MISCONFIGURED = 5


@dataclass(frozen=True, slots=True)
class Waited:
    """How a wait ended, with the last check. `after` is in nanoseconds."""

    end: End
    checked: Checked
    after: int


async def wait(
    checker: Checker,
    name: str,
    *,
    timeout: float,  # noqa: ASYNC109 - running out is an answer here
    kept: Callable[[], bool] = lambda: False,
) -> Waited:
    """Check a service until it is ready, and no longer than `timeout` seconds.

    A dead process ends the wait at once, unless it is to be started again: `kept` tells whether a
    supervisor is at work. Raises WrongInput as `Checker.check`.
    """
    clock = current()
    start = clock.now()
    end = start + ns(timeout)
    pause = FIRST
    while True:
        checked = await checker.check(name, until=max(end, start + ONE_LOOK))
        service, now = checked.service, clock.now()
        settled = _settled(checked, kept)
        if settled is not None:
            return Waited(settled, checked, now - start)
        if end - now < LEAST:
            await checker.host.watch(service, max(0, end - now) / NS)
            return Waited(End.COMING, checked, clock.now() - start)
        limits = service.patience.settings(interval=checker.interval).limits
        due = core.plan(service.readiness, clock.boot(), limits).at
        sooner = pause if due is None else min(pause, max(0, due - clock.boot()) / NS)
        await checker.host.watch(service, min(sooner or pause, (end - now) / NS))
        pause = min(2 * pause, checker.interval)


def _settled(checked: Checked, kept: Callable[[], bool]) -> End | None:
    service = checked.service
    status = service.status
    if status is Status.READY:
        return End.READY
    if status is Status.MISCONFIGURED:
        return End.MISCONFIGURED
    if status is Status.STOPPED:
        return End.DEAD
    if status in (Status.FAILED, Status.RECOVERING):
        if service.given_up:
            return End.DEAD
        lives = checked.facts.alive and status is Status.FAILED
        return None if lives or kept() else End.DEAD
    return None
