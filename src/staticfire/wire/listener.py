"""A listening socket with the connections it accepted."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any, cast

from staticfire.wire.requests import Limits
from staticfire.wire.server import Handler, Refuse, ServerConnection

__all__ = ["Listener"]

_BACKLOG = 4096  # a full backlog drops SYNs, which come back a second later


class Listener:
    """Start it, stop it: afterwards no task and no socket of it is left."""

    def __init__(self, handler: Handler, refuse: Refuse, limits: Limits | None = None) -> None:
        self._handler = handler
        self._refuse = refuse
        self._limits = limits or Limits()
        self._server: asyncio.Server | None = None
        self._empty: asyncio.Future[None] | None = None
        self.connections: set[ServerConnection] = set()
        self.tasks: set[asyncio.Task[None]] = set()
        self.host = ""
        self.port = 0

    async def start(self, host: str, port: int) -> None:
        """Bind and listen; `port` 0 lets the kernel choose. Raises OSError when it cannot."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._accept, host, port, backlog=_BACKLOG)
        sockets = cast("Any", self._server).sockets  # a tuple; of uvloop's server a list
        self.host, self.port = sockets[0].getsockname()[:2]

    def _accept(self) -> asyncio.Protocol:
        connection = ServerConnection(self._handler, self._refuse, self._limits, self)
        return cast("asyncio.Protocol", connection)

    async def stop(self, grace: float = 0.0) -> None:
        """Accept no more, let answers under way end for `grace` seconds, then cut them."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for connection in tuple(self.connections):
            connection.drain()
        if grace > 0:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(grace):
                    await self._until_empty()
        for connection in tuple(self.connections):
            connection.abort()
        await self._until_empty()
        if self.tasks:
            await asyncio.wait(tuple(self.tasks))

    async def _until_empty(self) -> None:
        if self.connections:
            self._empty = asyncio.get_running_loop().create_future()
            await self._empty

    # -- for ServerConnection

    def opened(self, connection: ServerConnection) -> None:
        """A client connected."""
        self.connections.add(connection)

    def closed(self, connection: ServerConnection) -> None:
        """A connection is gone."""
        self.connections.discard(connection)
        if not self.connections and self._empty is not None and not self._empty.done():
            self._empty.set_result(None)
