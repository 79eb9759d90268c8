"""The loop of a scenario, virtual or real."""

from __future__ import annotations

import asyncio
import threading

import pytest

from staticfire.clock import NS
from staticfire.clock.virtual import Stuck
from staticfire.stand.loops import RealLoop, VirtualScenarioLoop


@pytest.fixture(params=[VirtualScenarioLoop, RealLoop])
def loop(request):
    made = request.param()
    yield made
    if not made.loop.is_closed():
        made.close()


async def value():
    return 42


async def fails():
    raise ValueError("no")


def test_a_coroutine_runs_to_its_end(loop):
    """Its value comes back, its exception too."""
    assert loop.run(value()) == 42
    with pytest.raises(ValueError, match="no"):
        loop.run(fails())


def test_what_is_left_is_named_at_the_end(loop):
    """A task that a scenario forgot is told by name."""

    async def leave():
        leave.task = asyncio.create_task(asyncio.sleep(1e6), name="orphan")

    loop.run(leave())
    assert loop.close() == ["orphan"]


def test_nothing_left_is_an_empty_list(loop):
    """A task that was cancelled in time is not left."""

    async def tidy():
        task = asyncio.create_task(asyncio.sleep(1e6))
        await asyncio.sleep(0)
        task.cancel()

    loop.run(tidy())
    assert loop.close() == []


def test_virtual_time_stands_still_between_steps():
    """Only a step moves it."""
    loop = VirtualScenarioLoop()
    loop.run(asyncio.sleep(5))
    assert loop.clock.now() == 5 * NS
    loop.run(value())
    assert loop.clock.now() == 5 * NS
    loop.close()


def test_a_step_ends_when_its_instant_is_over():
    """A close at the end of a step has been seen by the other side when the next one starts."""
    seen = []

    class Server(asyncio.Protocol):
        def connection_lost(self, exc):
            seen.append("lost")

    async def connect_and_close():
        running = asyncio.get_running_loop()
        server = await running.create_server(Server, "127.0.0.1", 0)
        transport, _ = await running.create_connection(
            asyncio.Protocol, *server.sockets[0].getsockname()
        )
        transport.close()
        server.close()

    loop = VirtualScenarioLoop()
    loop.run(connect_and_close())
    assert seen == ["lost"]
    loop.close()


def test_a_stuck_step_is_cancelled_and_the_loop_goes_on():
    """Clean-up runs after a failure."""

    async def stuck():
        await asyncio.get_running_loop().create_future()

    loop = VirtualScenarioLoop()
    with pytest.raises(Stuck, match="the step"):
        loop.run(stuck())
    assert loop.run(value()) == 42
    assert loop.close() == []


def test_the_real_loop_runs_between_steps():
    """Engines on the real clock answer while no step runs."""
    loop = RealLoop()
    fired = threading.Event()
    loop.loop.call_soon_threadsafe(fired.set)
    assert fired.wait(5)
    loop.close()
