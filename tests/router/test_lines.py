"""Connections to a worker, kept and let go."""

from __future__ import annotations

import asyncio

from staticfire import wire
from staticfire.clock.virtual import run
from staticfire.router.lines import Lines


def lines_to(server, **kwargs):
    port = server.sockets[0].getsockname()[1]
    return Lines(wire.Address("127.0.0.1", port), **kwargs)


async def listening():
    async def hold(reader, writer):
        await reader.read()
        writer.close()

    return await asyncio.start_server(hold, "127.0.0.1", 0)


def test_the_newest_is_used_first_and_the_old_are_closed():
    """An idle connection is used for as long as it is younger than an engine's own limit."""

    async def main():
        server = await listening()
        lines = lines_to(server, keepalive=4.0)
        first, second = await lines.connect(), await lines.connect()
        lines.give_back(first)
        await asyncio.sleep(3)
        lines.give_back(second)
        assert lines.idle() is second
        lines.give_back(second)
        await asyncio.sleep(2)
        assert lines.idle() is second, "idle for two seconds; the first one for five"
        lines.give_back(second)
        await asyncio.sleep(0)
        assert lines.all == {second}, "the old one was closed on the way"
        await asyncio.sleep(5)
        assert lines.idle() is None
        await asyncio.sleep(0)
        assert lines.all == set()
        await asyncio.sleep(1)
        server.close()

    run(main())


def test_none_is_kept():
    """A keep-alive of nothing keeps nothing."""

    async def main():
        server = await listening()
        lines = lines_to(server, keepalive=0)
        lines.give_back(await lines.connect())
        assert lines.idle() is None
        await asyncio.sleep(0)
        assert lines.all == set()
        await asyncio.sleep(1)
        server.close()

    run(main())
