"""Keeping services, in virtual time."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import replace

import pytest

from staticfire.clock import NS, current
from staticfire.clock.virtual import run
from staticfire.engine import (
    Accepting,
    Dead,
    Loading,
    NeverAnswers,
    Refuses,
    Rule,
    Serving,
)
from staticfire.readiness import Status
from staticfire.services.service import Patience
from staticfire.services.store import Store
from staticfire.services.supervise import Supervisor


async def keep(room, seconds: float, **more) -> list[tuple[float, str, str]]:
    """Supervise for so long; what it said, with the seconds."""
    said: list[tuple[float, str, str]] = []

    def say(name: str, text: str) -> None:
        said.append((round(current().now() / NS, 3), name, text))

    task = asyncio.create_task(Supervisor(room.store, room.host, say=say, **more).run())
    await asyncio.sleep(seconds)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return said


@pytest.mark.parametrize(
    "life",
    [
        (Refuses(seconds=4), Loading(seconds=360, chat=NeverAnswers()), Serving()),
        (Refuses(seconds=90), Serving()),
        (Accepting(seconds=200), Serving()),
    ],
    ids=["six minutes of loading", "binds late", "accepts and stays silent"],
)
def test_no_service_is_restarted_while_it_comes_up(room, life):
    """However long it takes, as long as its budget holds or it has listed once."""

    async def main():
        await room.serve("a", *life)
        await keep(room, 500)
        await room.close()
        return room.store.get("a")

    service = run(main())
    assert (service.status, service.restarts) == (Status.READY, 0)


def test_a_dead_one_comes_back(room):
    """After the first pause, with its count, and ready again."""

    async def main():
        engine = await room.serve("a", Serving())
        task = asyncio.create_task(keep(room, 30))
        await asyncio.sleep(10.5)
        engine.kill()
        said = await task
        await room.close()
        return said, room.store.get("a")

    said, service = run(main())
    assert (service.status, service.restarts, service.life.number) == (Status.READY, 1, 2)
    told = [(at, text) for at, _, text in said if at > 10]
    assert told[0] == (15.0, "failed: exited with 1 after 15.0 s")
    assert told[1] == (15.0, "it is started again in 1 s")
    assert (16.0, "restart 1: pid 102") in told


def test_a_crash_loop_is_bounded(room):
    """A child that dies at once, for ten minutes: growing pauses, then given up with why."""

    async def main():
        await room.serve("a", Dead())
        said = await keep(room, 600)
        await room.close()
        return said, room.store.get("a")

    said, service = run(main())
    starts = [at for at, _, text in said if text.startswith("restart ")]
    assert len(starts) == 8
    gaps = [b - a for a, b in itertools.pairwise(starts)]
    assert gaps == sorted(gaps)
    assert service.status is Status.FAILED
    assert "given up: after 8 restarts in a row" in service.readiness.reason
    assert service.restarts == 8


def test_no_progress_exhausts_the_budget(room):
    """Nothing listed and nothing moved: restarted, with the reason, once a pause."""

    async def main():
        patience = Patience(startup=60, restarts=2)
        await room.serve("a", Refuses(seconds=10_000), patience=patience)
        said = await keep(room, 400)
        await room.close()
        return said, room.store.get("a"), room.host.programs["a"].ends

    said, service, ends = run(main())
    starts = [at for at, _, text in said if text.startswith("restart ")]
    assert len(starts) == 2
    assert 60 <= starts[0] <= 70
    assert ends == 3
    assert service.status is Status.FAILED
    assert "start-up budget" in service.given_up
    assert not room.host.programs["a"].runs


def test_a_download_keeps_its_budget(room):
    """The log grows for twenty minutes, then it serves: no restart."""

    async def main():
        life = (Refuses(seconds=1200), Serving())
        await room.serve("a", *life, patience=Patience(startup=60))
        room.host.programs["a"].log = lambda now: min(now, 1200 * NS) // NS
        await keep(room, 1300)
        await room.close()
        return room.store.get("a")

    service = run(main())
    assert (service.status, service.restarts) == (Status.READY, 0)


def test_a_degraded_one_is_not_restarted(room):
    """Wedged after ready: shown as degraded, for as long as it takes, and left alone."""

    async def main():
        engine = await room.serve("a", Serving())
        await keep(room, 10)
        engine.add_rule(Rule("chat", NeverAnswers()))
        await keep(room, 1500)
        await room.close()
        return room.store.get("a")

    service = run(main())
    assert (service.status, service.restarts) == (Status.DEGRADED, 0)


def test_a_stopped_one_stays_stopped(room):
    """Nobody starts what a user stopped."""

    async def main():
        await room.serve("a", Serving())
        await keep(room, 10)
        await room.launcher.stop("a")
        said = await keep(room, 60)
        await room.close()
        return said, room.store.get("a")

    said, service = run(main())
    assert service.status is Status.STOPPED
    assert not any("restart" in text for _, _, text in said)


def test_counts_and_pauses_survive_the_supervisor(room, home):
    """Another supervisor on another store goes on where the first one died."""

    async def main():
        await room.serve("a", Dead())
        await keep(room, 20)
        first = room.store.get("a")
        room.store.close()
        room.store = Store(home)
        await keep(room, 30)
        await room.close()
        second = room.store.get("a")
        room.store.close()
        return first, second

    first, second = run(main())
    assert 0 < first.restarts < second.restarts
    assert second.streak == second.restarts


def test_a_start_that_was_cut_is_made_good(room):
    """A supervisor that dies between its note and the start: the next one starts it."""

    async def main():
        engine = await room.serve("a", Serving())
        engine.kill()
        start = room.host.start

        async def dies(service, environ):
            raise asyncio.CancelledError

        room.host.start = dies
        await keep(room, 10)
        between = room.store.get("a")
        room.host.start = start
        await keep(room, 60)
        await room.close()
        return between, room.store.get("a")

    between, after = run(main())
    assert between.life.pid is None
    assert after.status is Status.READY


def test_one_slow_service_holds_no_other_up(room):
    """One hangs, nine are fine: a tick judges the nine at once."""

    async def main():
        await room.serve("slow", Accepting())
        for number in range(9):
            await room.serve(f"fine{number}", Serving())
        said = await keep(room, 4)
        await room.close()
        return said

    ready = [(at, name) for at, name, text in run(main()) if text.startswith("ready")]
    assert sorted(ready) == [(0.0, f"fine{n}") for n in range(9)]


def test_it_keeps_those_named(room):
    """The others are left to somebody else."""

    async def main():
        for name in ("a", "b"):
            await room.serve(name, Serving())
        said = await keep(room, 6, names=["b"])
        await room.close()
        return said

    assert {name for _, name, _ in run(main())} == {"b"}


def test_services_that_come_later_are_kept(room):
    """A store is looked at anew each tick; a record that cannot be read is told once."""

    async def main():
        task = asyncio.create_task(keep(room, 20))
        await asyncio.sleep(7)
        await room.serve("late", Serving())
        room.store._connection.execute("INSERT INTO services VALUES ('torn', 1, '{', '{}')")
        said = await task
        await room.close()
        return said

    said = run(main())
    assert [(at, name) for at, name, text in said if text.startswith("ready")] == [(10.0, "late")]
    assert len([1 for _, name, _ in said if name == "torn"]) == 1


def test_a_large_log_is_moved_on(room, home, monkeypatch):
    """While its engine writes."""
    monkeypatch.setattr("staticfire.services.supervise.logs.LARGEST", 10)
    monkeypatch.setattr("staticfire.services.logs.trim.__defaults__", (10,))

    async def main():
        await room.serve("a", Serving())
        log = home.log("a")
        log.write_text("x" * 20)
        await keep(room, 6)
        await room.close()
        return log

    log = run(main())
    assert log.read_text() == ""
    assert log.with_name("a.log.1").read_text() == "x" * 20


def test_a_row_ends_with_a_life_that_lasts(room):
    """Ten minutes of ready: the next crash waits a second, not a minute."""

    async def main():
        await room.serve("a", Serving())
        room.store.change("a", lambda s: replace(s, streak=5, restarts=5))
        await keep(room, 620)
        await room.close()
        return room.store.get("a")

    service = run(main())
    assert (service.streak, service.restarts) == (0, 5)
