"""The connections to one worker, kept from one request to the next."""

from __future__ import annotations

import asyncio
from collections import deque

from staticfire import wire

__all__ = ["Lines"]


class Lines:
    """The newest idle connection is used first; one that is idle for too long is closed.

    `keepalive` is in seconds and stays under the engine's own, so that it is not the engine that
    closes: a close of its own may cross a request on its way. 0 keeps none.
    """

    def __init__(self, address: wire.Address, keepalive: float = 4.0) -> None:
        self.address = address
        self.keepalive = keepalive
        self.all: set[wire.Connection] = set()
        self._idle: deque[tuple[float, wire.Connection]] = deque()

    def idle(self) -> wire.Connection | None:
        """A kept connection that is alive now. Dead ones are dropped: nothing was sent on them."""
        kept = self._idle
        while kept:
            since, connection = kept.pop()
            if connection.loop.time() - since > self.keepalive:
                kept.append((since, connection))
                self._drop_old()
            elif connection.reusable:
                return connection
            else:
                connection.close()
        return None

    async def connect(self) -> wire.Connection:
        """A fresh connection. Raises Unreachable."""
        connection = await wire.connect(self.address, on_lost=self._lost)
        self.all.add(connection)
        return connection

    def give_back(self, connection: wire.Connection) -> None:
        """Keep a connection for the next request if it can take one."""
        if not connection.free:
            return
        if self.keepalive <= 0:
            connection.close()
            return
        now = connection.loop.time()
        self._idle.append((now, connection))
        if now - self._idle[0][0] > self.keepalive:
            self._drop_old()

    def hang_up(self) -> None:
        """Close every connection."""
        self._idle.clear()
        for connection in tuple(self.all):
            connection.abort()

    def retire(self) -> None:
        """Keep none any more: idle ones close now, those in use after their answers."""
        self.keepalive = 0.0
        while self._idle:
            self._idle.popleft()[1].close()

    def _drop_old(self) -> None:
        since = asyncio.get_running_loop().time() - self.keepalive
        while self._idle and self._idle[0][0] < since:
            self._idle.popleft()[1].close()

    def _lost(self, connection: wire.Connection) -> None:
        self.all.discard(connection)
        for row in self._idle:
            if row[1] is connection:
                self._idle.remove(row)
                return
