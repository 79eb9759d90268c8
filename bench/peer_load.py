"""The load of the comparison with other routers: closed loop, open loop, open streams."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable

__all__ = ["Count", "closed", "hold", "once", "open_loop", "said"]

_WORDS = "Tell me about routers and how they choose an engine. "


def said(stream: bool, note: str = "", size: int = 1024) -> bytes:
    """One chat request of about `size` bytes of body, ready for the wire."""
    body = {
        "model": "qwen",
        "messages": [
            {"role": "system", "content": f"You are a helpful assistant. {note}"},
            {"role": "user", "content": ""},
        ],
        "temperature": 0.7,
        "max_tokens": 64,
    }
    if stream:
        body["stream"] = True
    room = size - len(json.dumps(body))
    body["messages"][1]["content"] = (_WORDS * (size // len(_WORDS) + 1))[: max(0, room)]  # type: ignore[index]  # our own literal
    text = json.dumps(body).encode()
    return (
        b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: */*\r\n"
        b"content-type: application/json\r\nauthorization: Bearer sk-bench\r\n"
        b"content-length: %d\r\n\r\n%b" % (len(text), text)
    )


class Count:
    """What came: whole answers, how long each took in seconds, events, answers other than 200."""

    def __init__(self) -> None:
        self.answers = 0
        self.events = 0
        self.bad = 0
        self.took: list[float] = []


class _Client(asyncio.Protocol):
    """One keep-alive connection; `ended` is called after each whole answer."""

    def __init__(self, request: bytes, count: Count, ended: Callable[[_Client], None]) -> None:
        self.request, self.count, self.ended = request, count, ended
        self.stream = b'"stream": true' in request
        self.got = bytearray()
        self.since = 0.0
        self.ok = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def ask(self, since: float) -> None:
        self.since = since
        self.got.clear()
        self.ok = False
        self.transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        got = self.got
        if not got:
            self.ok = data.startswith(b"HTTP/1.1 200")
        if self.stream and self.ok:
            self.count.events += data.count(b"data: {")
            got += data
            if not got.endswith(b"0\r\n\r\n"):
                del got[:-8]
                return
        else:
            got += data
            head = got.find(b"\r\n\r\n")
            at = got.lower().find(b"content-length:", 0, head) if head >= 0 else -1
            if at < 0 or len(got) < head + 4 + int(got[at + 15 : got.find(b"\r\n", at)]):
                return
        self.count.answers += 1
        self.count.bad += not self.ok
        self.count.took.append(time.perf_counter() - self.since)
        self.ended(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's name
        self.count.bad += self.since > 0


async def _connect(
    port: int, request: bytes, count: Count, ended: Callable[[_Client], None]
) -> _Client:
    loop = asyncio.get_running_loop()
    made = lambda: _Client(request, count, ended)  # noqa: E731 - read in place
    _, client = await loop.create_connection(made, "127.0.0.1", port)
    return client


def _close(clients: list[_Client]) -> None:
    for client in clients:
        client.since = 0.0
        client.transport.abort()


async def once(port: int, request: bytes, deadline: float) -> bool:
    """Whether one request on a fresh connection is answered with 200."""
    count = Count()
    done = asyncio.Event()
    try:
        async with asyncio.timeout(deadline):
            client = await _connect(port, request, count, lambda _: done.set())
            client.ask(time.perf_counter())
            await done.wait()
            _close([client])
    except (OSError, TimeoutError):
        return False
    return count.bad == 0


async def closed(port: int, request: bytes, connections: int, seconds: float) -> Count:
    """Each connection asks again as soon as it is answered."""
    count = Count()
    over = time.perf_counter() + seconds
    left = connections
    done = asyncio.Event()

    def ended(client: _Client) -> None:
        nonlocal left
        now = time.perf_counter()
        if now < over:
            client.ask(now)
            return
        left -= 1
        if not left:
            done.set()

    clients = [await _connect(port, request, count, ended) for _ in range(connections)]
    for client in clients:
        client.ask(time.perf_counter())
    async with asyncio.timeout(seconds + 30):
        await done.wait()
    _close(clients)
    return count


async def open_loop(port: int, request: bytes, rate: float, seconds: float) -> Count:
    """`rate` requests a second whatever comes back; times count from when each was due."""
    count = Count()
    free: list[_Client] = []
    everybody = [await _connect(port, request, count, free.append) for _ in range(32)]
    free += everybody
    start = time.perf_counter()
    for place in range(int(rate * seconds)):
        due = start + place / rate
        rest = due - time.perf_counter()
        if rest > 0:
            await asyncio.sleep(rest)
        if not free:
            count.bad += 1
            continue
        free.pop().ask(due)
    await asyncio.sleep(0.2)
    _close(everybody)
    return count


async def hold(
    port: int, request: bytes, streams: int, settle: float, watch: Callable[[float], None]
) -> Count:
    """`streams` streams at once; `watch(now)` is called `settle` s after the last began, and 3 s later."""
    count = Count()
    left = streams
    done = asyncio.Event()

    def ended(_: _Client) -> None:
        nonlocal left
        left -= 1
        if not left:
            done.set()

    clients = []
    for place in range(streams):
        client = await _connect(port, request, count, ended)
        client.ask(time.perf_counter())
        clients.append(client)
        if place % 50 == 49:
            await asyncio.sleep(0.01)
    await asyncio.sleep(settle)
    watch(time.perf_counter())
    await asyncio.sleep(3.0)
    watch(time.perf_counter())
    async with asyncio.timeout(60):
        await done.wait()
    _close(clients)
    return count
