"""Virtual time: what jumps, what holds, what fails."""

from __future__ import annotations

import asyncio
import socket
import threading
import time

import pytest

from staticfire import clock
from staticfire.clock import NS, REAL, virtual
from staticfire.clock.virtual import EPOCH, Stuck, VirtualLoop, run


def loop_() -> VirtualLoop:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    return loop


def test_time_is_exact():
    """120 sleeps of 0.1 s end at 12 s to the nanosecond: time is an integer."""

    async def main():
        for _ in range(120):
            await asyncio.sleep(0.1)
        return clock.current().now()

    assert run(main()) == 12 * NS


def test_an_hour_takes_no_time():
    """Waiting costs nothing: an hour passes in well under a second."""
    started = time.monotonic()
    run(asyncio.sleep(3600))
    assert time.monotonic() - started < 1


def test_time_stands_still_while_code_runs():
    """Only waiting moves the clock."""

    async def main():
        time.sleep(0.02)
        await asyncio.sleep(0)
        return clock.current().now(), clock.current().boot(), clock.current().wall()

    assert run(main()) == (0, 0, EPOCH)


def test_timers_of_one_instant_fire_in_the_order_they_were_set():
    """The heap of asyncio promises no order: 12 timers of one instant fired 0, 6, 2, 11, 5 …"""

    async def main():
        fired = []
        for number in range(12):
            loop_().call_at(1.0, fired.append, number)
        loop_().call_at(0.5, fired.append, "earlier")
        await asyncio.sleep(2)
        return fired

    assert run(main()) == ["earlier", *range(12)]


def test_binds_and_kills_come_first():
    """A lifecycle timer comes before everything else that is due at its instant."""

    async def main():
        fired = []
        loop_().call_at(1.0, fired.append, "poll")
        clock.current().call_at(NS, fired.append, "bind", first=True)
        await asyncio.sleep(2)
        return fired

    assert run(main()) == ["bind", "poll"]


def test_nothing_to_wait_for_fails_at_once_and_names_who_waits():
    """No timer and nothing readable: nothing can ever happen."""

    async def waits_for_ever():
        await loop_().create_future()

    async def main():
        await asyncio.create_task(waits_for_ever(), name="the step")

    with pytest.raises(Stuck, match=r"nothing can happen any more.*the step at .*waits_for_ever"):
        run(main())


def test_a_budget_ends_a_scenario_that_never_does():
    """A health loop always holds a timer, so virtual time itself is limited."""

    async def main():
        while True:
            await asyncio.sleep(60)

    with pytest.raises(Stuck, match="budget of 7200 virtual seconds"):
        run(main())


def test_a_budget_fails_once():
    """Clean-up after a used-up budget has time again."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        loop = runner.get_loop()
        with pytest.raises(Stuck), loop.budget(5):
            runner.run(asyncio.sleep(10))
        runner.run(asyncio.sleep(10))


def test_spinning_is_seen(monkeypatch):
    """A busy loop moves no byte and no time."""
    monkeypatch.setattr(virtual, "EMPTY_TURNS", 1000)

    async def main():
        while True:
            await asyncio.sleep(0)

    with pytest.raises(Stuck, match=r"1,000 turns went by without a byte moving"):
        run(main())


def test_bytes_in_flight_arrive_before_the_clock_moves():
    """What was written is read before time jumps: 300 close-and-wait rounds, none late."""

    async def main():
        late = []

        class Notes(asyncio.Protocol):
            def connection_lost(self, exc):
                late.append(clock.current().now() - closed_at)

        server = await loop_().create_server(Notes, "127.0.0.1", 0)
        address = server.sockets[0].getsockname()
        for _ in range(300):
            transport, _ = await loop_().create_connection(asyncio.Protocol, *address)
            await asyncio.sleep(1)
            closed_at = clock.current().now()
            transport.close()
            await asyncio.sleep(5)
        server.close()
        return late

    assert run(main()) == [0] * 300


def test_a_job_in_a_thread_holds_the_clock():
    """`to_thread` looks idle to the selector; the clock waits for it in real time."""

    async def main():
        await asyncio.wait_for(asyncio.to_thread(time.sleep, 0.05), 0.01)

    run(main())


def test_a_job_that_does_not_end_is_named(monkeypatch):
    """Pending may hold the clock for some real seconds, then the scenario fails by the job's name."""
    monkeypatch.setattr(virtual, "PATIENCE", 0.05)
    release = threading.Event()

    async def main():
        await asyncio.to_thread(release.wait, 5)

    with pytest.raises(Stuck, match=r"still pending: the job .*"):
        try:
            run(_released_after(main(), release))
        finally:
            release.set()


async def _released_after(coroutine, release):
    try:
        await coroutine
    finally:
        release.set()


def test_names_resolve_without_timing_out():
    """`getaddrinfo` runs in a thread and is waited for."""

    async def main():
        return await asyncio.wait_for(loop_().getaddrinfo("localhost", 80), 0.001)

    assert run(main())


def test_335_connects_at_once_all_arrive():
    """A full accept queue would drop connects for a real second: a smaller backlog is raised."""

    async def main():
        server = await loop_().create_server(asyncio.Protocol, "127.0.0.1", 0, backlog=1)
        address = server.sockets[0].getsockname()
        async with asyncio.timeout(1):
            pairs = await asyncio.gather(
                *(loop_().create_connection(asyncio.Protocol, *address) for _ in range(335))
            )
        for transport, _ in pairs:
            transport.close()
        server.close()
        await asyncio.sleep(0)
        return clock.current().now()

    assert run(main()) == 0


def test_an_engine_that_swallows_connects_costs_virtual_time_only():
    """A registered address never completes a connect; the deadline falls due in virtual time."""

    async def main():
        with socket.socket() as sock:
            sock.bind(("127.0.0.1", 0))
            sock.listen()
            loop_().swallow(sock.getsockname())
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(8):
                    await loop_().create_connection(asyncio.Protocol, *sock.getsockname())
            return clock.current().now()

    assert run(main()) == 8 * NS


def test_a_subprocess_is_refused():
    """A process does not live in virtual time; the error says what to use."""

    async def main():
        await asyncio.create_subprocess_exec("true")

    with pytest.raises(Stuck, match="@realtime"):
        run(main())


def test_a_task_left_behind_is_named():
    """A scenario ends when its tasks do."""

    async def main():
        main.task = asyncio.create_task(asyncio.sleep(1e6), name="orphan")

    with pytest.raises(Stuck, match="tasks were left running: orphan"):
        run(main())


def test_a_real_loop_has_the_real_clock():
    """The same question works on every loop; real time moves by itself."""

    async def main():
        found = clock.current()
        fired = asyncio.Event()
        found.call_at(found.now() + 1_000_000, fired.set, first=True)
        await fired.wait()
        return found

    assert asyncio.run(main()) is REAL
    assert clock.current() is REAL
    assert REAL.boot() >= 0
    assert abs(REAL.wall() - time.time()) < 60
