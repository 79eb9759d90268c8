"""A worker's connections."""

from __future__ import annotations

import asyncio
import socket

from staticfire import readiness
from staticfire.clock.virtual import run
from staticfire.router.breaker import BreakerSettings
from staticfire.router.worker import Worker


def test_dead_idle_connections_are_passed_over():
    """An idle connection that died a moment ago is not handed out; a living one is."""

    async def main():
        with socket.create_server(("127.0.0.1", 0)) as listener:
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            worker = Worker("w00", readiness.Watch(url), BreakerSettings())
            first, second = await worker.lines.connect(), await worker.lines.connect()
            peers = [listener.accept()[0] for _ in range(2)]
            worker.lines.give_back(first)
            worker.lines.give_back(second)
            peers[1].close()
            assert worker.lines.idle() is first
            assert worker.lines.idle() is None
            worker.lines.hang_up()
            peers[0].close()
            await asyncio.sleep(0)

    run(main())


def test_reason_without_url():
    """What a worker tells of itself has its id where its URL would be."""
    worker = Worker("w07", readiness.Watch("http://10.0.0.7:8000"), BreakerSettings())

    class Told:
        why = "no answer from http://10.0.0.7:8000 (10.0.0.7:8000)"

    worker.watch, worker.address = Told(), worker.address
    assert worker.reason == "no answer from w07 (w07)"
