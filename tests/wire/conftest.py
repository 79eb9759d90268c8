"""Raw peers for wire tests: plain asyncio streams, no HTTP code of ours."""

from __future__ import annotations

import asyncio
import contextlib

import pytest


@contextlib.asynccontextmanager
async def _serving(play):
    """A listener whose every connection is played by `play(reader, writer)`; yields its port."""
    tasks = set()

    async def serve(reader, writer):
        tasks.add(asyncio.current_task())
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                await play(reader, writer)
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=4096)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await asyncio.sleep(0)
        await asyncio.sleep(0)


@pytest.fixture
def serving():
    """The maker of raw listeners."""
    return _serving
