"""An engine as the router sees it."""

from __future__ import annotations

import asyncio

from staticfire import readiness, wire
from staticfire.router.breaker import Breaker, BreakerSettings

__all__ = ["Worker"]


class Worker:
    """A URL, its models, its state, its breaker, its idle connections.

    `id` is what clients may see; the URL stays in the log.
    """

    def __init__(self, name: str, watch: readiness.Watch, breaker: BreakerSettings) -> None:
        self.id = name
        self.watch = watch
        self.address = wire.parse_url(watch.url)
        self.breaker = Breaker(breaker)
        self.in_flight = 0
        self.pooled: tuple[str, ...] = ()  # the models under which it stands in pools
        self.discovered: set[str] = set()
        self.has_listed = False
        self._idle: list[wire.Connection] = []
        self._all: set[wire.Connection] = set()
        self._poke: asyncio.Future[None] | None = None

    @property
    def url(self) -> str:
        """Its address in the one normal form."""
        return self.address.url

    @property
    def host(self) -> str:
        """host:port, by which log lines count."""
        return self.address.authority

    @property
    def models(self) -> tuple[str, ...]:
        """What it listed last."""
        return self.watch.record.models

    @property
    def serving(self) -> bool:
        """In rotation."""
        return bool(self.pooled)

    @property
    def reason(self) -> str:
        """Why it is what it is, without its URL."""
        reason = self.watch.why
        return reason.replace(self.url, self.id).replace(self.host, self.id)

    # -- connections

    def idle_connection(self) -> wire.Connection | None:
        """A connection that is alive now. Dead ones on the way are dropped: nothing was sent."""
        while self._idle:
            connection = self._idle.pop()
            if connection.reusable:
                return connection
            connection.close()
        return None

    async def connect(self) -> wire.Connection:
        """A fresh connection. Raises Unreachable."""
        connection = await wire.connect(self.address, on_lost=self._lost)
        self._all.add(connection)
        return connection

    def give_back(self, connection: wire.Connection) -> None:
        """Keep a connection for the next request if it can take one."""
        if connection.free:
            self._idle.append(connection)

    def hang_up(self) -> None:
        """Close every connection."""
        self._idle.clear()
        for connection in tuple(self._all):
            connection.abort()

    def _lost(self, connection: wire.Connection) -> None:
        self._all.discard(connection)
        if connection in self._idle:
            self._idle.remove(connection)

    # -- the health loop's bell

    def poke(self) -> None:
        """Check soon: a request found something out."""
        if self._poke is not None and not self._poke.done():
            self._poke.set_result(None)

    async def until_poked(self, delay: float) -> None:
        """Wait for `delay` seconds or a poke."""
        loop = asyncio.get_running_loop()
        self._poke = loop.create_future()
        timer = loop.call_later(delay, self.poke)
        try:
            await self._poke
        finally:
            timer.cancel()
            self._poke = None
