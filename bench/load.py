"""The load: raw keep-alive connections, so that the client costs little beside the server."""

from __future__ import annotations

import asyncio
import json

__all__ = ["closed_loop", "request", "streams"]

PATIENCE = 120.0
"""Seconds after which a run has failed."""


def request(**body: object) -> bytes:
    """One chat request, ready for the wire."""
    text = json.dumps(
        {
            "model": "qwen",
            "messages": [{"role": "user", "content": "Say hello to the judge."}],
            **body,
        }
    ).encode()
    return (
        b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json"
        b"\r\nContent-Length: %d\r\n\r\n%b" % (len(text), text)
    )


class _Client(asyncio.Protocol):
    """Sends one request after another while there are any left in `budget`."""

    def __init__(self, said: bytes, budget: list[int], end: bytes) -> None:
        self.said, self.budget, self.end = said, budget, end
        self.got = bytearray()
        self.events = 0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._next()

    def _next(self) -> None:
        if self.budget[0] <= 0:
            self.transport.close()
            if not self.done.done():
                self.done.set_result(None)
            return
        self.budget[0] -= 1
        self.got.clear()
        self.transport.write(self.said)

    def data_received(self, data: bytes) -> None:
        self.got += data
        if self._whole():
            if not self.got.startswith(b"HTTP/1.1 200"):
                self.done.set_exception(RuntimeError(bytes(self.got[:500])))
                return
            self.events += self.got.count(b"data: {")
            self._next()

    def _whole(self) -> bool:
        if self.end:
            return self.got.endswith(self.end)
        head = self.got.find(b"\r\n\r\n")
        if head < 0:
            return False
        at = self.got.lower().find(b"content-length:", 0, head)
        return len(self.got) >= head + 4 + int(self.got[at + 15 : self.got.find(b"\r\n", at)])

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(RuntimeError(f"the server closed the connection: {exc}"))


async def _run(port: int, said: bytes, count: int, connections: int, end: bytes) -> int:
    loop = asyncio.get_running_loop()
    budget = [count]
    clients = []
    for _ in range(connections):
        _, client = await loop.create_connection(
            lambda: _Client(said, budget, end), "127.0.0.1", port
        )
        clients.append(client)
    async with asyncio.timeout(PATIENCE):
        for client in clients:
            await client.done
    return sum(client.events for client in clients)


def closed_loop(port: int, count: int, connections: int) -> None:
    """`count` JSON requests over keep-alive connections, each busy all the time."""
    asyncio.run(_run(port, request(), count, connections, b""))


def streams(port: int, count: int, tokens: int) -> int:
    """`count` streams side by side; returns how many events with a token or a role came."""
    said = request(stream=True, max_tokens=tokens)
    return asyncio.run(_run(port, said, count, count, b"0\r\n\r\n"))
