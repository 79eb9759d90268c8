"""One request's reply as it arrives."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from staticfire.wire.errors import Cut, Late, WireError
from staticfire.wire.head import Head, Header, find

if TYPE_CHECKING:
    from staticfire.wire.client import Connection

__all__ = ["Exchange", "Reply"]

HIGH_WATER = 128 << 10  # unread reply bytes held before the socket is no longer read


@dataclass(frozen=True, slots=True)
class Reply:
    """One whole reply."""

    status: int
    headers: tuple[Header, ...]
    body: bytes

    def header(self, name: bytes) -> bytes | None:
        """The first value under `name` (lower case), or None."""
        return find(self.headers, name)


class Exchange:
    """One request's reply as it arrives.

    Await `head()`, then either iterate over the body or hand it to `pipe`. A reply that does not
    end by its own framing raises from whatever is awaited then. The socket is not read while
    too much lies here unread, so a slow reader slows the worker down.
    """

    __slots__ = (
        "_chunks", "_ended", "_error", "_head", "_held", "_sink", "_waiter",
        "began", "connection", "method",
    )  # fmt: skip

    def __init__(self, connection: Connection, method: bytes) -> None:
        self.connection = connection
        self.method = method
        self.began = False
        self._head: Head | None = None
        self._chunks: list[bytes] = []
        self._held = 0
        self._ended = False
        self._error: WireError | None = None
        self._sink: Callable[[bytes], None] | None = None
        self._waiter: asyncio.Future[None] | None = None

    @property
    def ended(self) -> bool:
        """True when no more bytes will come, whole or not."""
        return self._ended

    async def head(self) -> Head:
        """The final reply's head; interim 1xx heads are passed over."""
        while self._head is None:
            if self._error is not None:
                raise self._error
            waiter = self._waiter = self.connection.loop.create_future()
            await waiter
        return self._head

    def __aiter__(self) -> Exchange:
        return self

    async def __anext__(self) -> bytes:
        data = await self.first()
        if not data:
            raise StopAsyncIteration
        return data

    async def first(self) -> bytes:
        """The first body bytes, or none when the reply ended without any; an error is raised."""
        while not self._chunks and not self._ended:
            await self._wait()
        if not self._chunks and self._error is not None:
            raise self._error
        return self.take()

    async def more(self, data: bytes, seconds: float) -> bytes:
        """`data` and what follows it in so many seconds, or until the end, or up to a limit."""
        try:
            async with asyncio.timeout(seconds):
                while not self._ended and self._held <= HIGH_WATER:
                    await self._wait()
        except TimeoutError:
            pass
        return data + self.take()

    @property
    def error(self) -> WireError | None:
        """Why the reply ended short, None while it goes on and when it is whole."""
        return self._error

    @property
    def held(self) -> int:
        """How many body bytes lie here unread."""
        return self._held

    @property
    def whole(self) -> bool:
        """True when the reply has ended as its framing said."""
        return self._ended and self._error is None

    def take(self) -> bytes:
        """The body bytes that lie here now, which may be none."""
        chunks, self._chunks = self._chunks, []
        if self._held > HIGH_WATER:
            self.connection.resume()
        self._held = 0
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    async def pipe(self, sink: Callable[[bytes], None]) -> None:
        """Give every body byte to `sink` as it arrives, until the reply has ended.

        Backpressure is the caller's: `pause` and `resume` the reading.
        """
        if self._chunks:
            sink(self.take())
        self._sink = sink
        try:
            while not self._ended:
                await self._wait()
        finally:
            self._sink = None
        if self._error is not None:
            raise self._error

    def pause(self) -> None:
        """Stop reading from the worker."""
        self.connection.pause()

    def resume(self) -> None:
        """Read from the worker again."""
        self.connection.resume()

    def abort(self) -> None:
        """Break the exchange off: the worker sees its connection go at once."""
        if not self._ended:
            self.connection.abort()
            self.end(Cut("we broke it off", reset=True, began=self.began))

    def expire(self) -> None:
        """Break it off for want of time: who waits gets `Late`."""
        if not self._ended:
            self.end(Late("no answer in time"))
            self.connection.abort()

    async def _wait(self) -> None:
        self._waiter = self.connection.loop.create_future()
        await self._waiter

    def _wake(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    # What the connection tells us.

    def headed(self, head: Head) -> None:
        """The final head is here."""
        self._head = head
        self._wake()

    def body(self, data: bytes) -> None:
        """More body bytes are here."""
        if self._sink is not None:
            self._sink(data)
            return
        self._chunks.append(data)
        self._held += len(data)
        if self._held > HIGH_WATER:
            self.connection.pause()
        if self._waiter is not None:
            self._wake()

    def end(self, error: WireError | None) -> None:
        """No more bytes will come."""
        if not self._ended:
            self._ended = True
            self._error = error
            if self._waiter is not None:
                self._wake()
