"""Waiting for a service, in virtual time."""

from __future__ import annotations

import asyncio

import pytest

from staticfire.clock import NS
from staticfire.clock.virtual import run
from staticfire.engine import (
    Accepting,
    Answers,
    Busy,
    Dead,
    Loading,
    NeverAnswers,
    Refuses,
    Rule,
    Serving,
)
from staticfire.readiness import Status
from staticfire.services.check import Checker
from staticfire.services.supervise import Supervisor
from staticfire.services.wait import End, wait


def ends(room, *life, timeout=45.0, prepare=None, kept=lambda: False, **script):
    """How a wait for a service of that life ends, and after how many seconds."""

    async def main():
        engine = await room.serve("a", *life, **script)
        if prepare is not None:
            await prepare(engine)
        checker = Checker(room.store, room.host, interval=1.0)
        waited = await wait(checker, "a", timeout=timeout, kept=kept)
        await room.close()
        return waited

    waited = run(main())
    return waited.end, waited.after / NS, waited.checked.service


def test_ready_as_soon_as_it_serves(room):
    """A late binder is seen within a second of its first listing."""
    end, after, service = ends(room, Refuses(seconds=12), Serving())
    assert end is End.READY
    assert 12.0 <= after <= 13.0
    assert service.life.smoked is not None


def test_busy_is_asked_again_soon(room):
    """A 503 while loading costs a second, not fifteen."""
    end, after, _ = ends(room, Busy(seconds=8), Serving())
    assert end is End.READY
    assert 8.0 <= after <= 9.5


@pytest.mark.parametrize(
    ("life", "status"),
    [((Refuses(seconds=999),), Status.STARTING), ((Loading(chat=NeverAnswers()),), Status.RUNNING)],
)
def test_the_time_runs_out(room, life, status):
    """At the second, with how far it came."""
    end, after, service = ends(room, *life)
    assert (end, after, service.status) == (End.COMING, 45.0, status)


def test_dead_ends_it(room):
    """A process that dies in three seconds is not waited for."""
    end, after, service = ends(room, Refuses(seconds=3), Dead())
    assert end is End.DEAD
    assert 3.0 <= after <= 4.0
    assert "exited with 1" in service.readiness.reason


def test_a_wrong_model_ends_it(room):
    """After it held 15 s and two probes: engines answer so while they warm up."""
    end, after, _ = ends(room, Serving(), rules=[Rule("chat", Answers(400))])
    assert end is End.MISCONFIGURED
    assert 15.0 <= after <= 17.0


def test_a_stopped_one_is_dead(room):
    """Nobody will start it."""

    async def stop(engine):
        await room.launcher.stop("a")

    end, after, _ = ends(room, Serving(), prepare=stop)
    assert (end, after) == (End.DEAD, 0.0)


def test_a_death_that_a_supervisor_mends_is_waited_out(room):
    """It comes back: ready, after the pause."""

    async def main():
        engine = await room.serve("a", Serving())
        keeping = asyncio.create_task(Supervisor(room.store, room.host, tick=1.0).run())
        await asyncio.sleep(2.5)
        engine.kill()
        await asyncio.sleep(0.6)
        checker = Checker(room.store, room.host, interval=1.0)
        waited = await wait(checker, "a", timeout=45, kept=lambda: True)
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        await room.close()
        return waited

    waited = run(main())
    assert waited.end is End.READY
    assert waited.checked.service.life.number == 2


def test_what_is_given_up_is_dead(room):
    """Also under a supervisor."""

    async def main():
        await room.serve("a", Dead())
        keeping = asyncio.create_task(Supervisor(room.store, room.host).run())
        checker = Checker(room.store, room.host, interval=1.0)
        waited = await wait(checker, "a", timeout=3600, kept=lambda: True)
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        await room.close()
        return waited

    waited = run(main())
    assert waited.end is End.DEAD
    assert "given up" in waited.checked.service.readiness.reason


def test_no_time_is_one_look(room):
    """`--timeout 0` asks once, and gives the answer a moment."""
    assert ends(room, Serving(), timeout=0.0)[:2] == (End.READY, 0.0)


def test_no_time_is_no_more_than_one_look(room):
    """One that hangs is let go after a second."""
    assert ends(room, Accepting(), timeout=0.0)[:2] == (End.COMING, 1.0)
