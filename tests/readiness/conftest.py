"""A small raw engine for the tests of readiness; nothing of the mock engines is used here."""

from __future__ import annotations

import asyncio
import json
import socket
import weakref
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Self

import pytest

from staticfire import clock


def reply(status: int = 200, body: object = b"", headers: str = "") -> bytes:
    """One answer with a Content-Length."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = f"HTTP/1.1 {status} X\r\ncontent-length: {len(data)}\r\n{headers}\r\n"
    return head.encode() + data


def completion(model: str = "qwen") -> dict[str, object]:
    """What an OpenAI engine answers to chat."""
    message = {"role": "assistant", "content": ""}
    return {"object": "chat.completion", "model": model, "choices": [{"message": message}]}


class Peer(asyncio.Protocol):
    """One connection of the fake engine."""

    def __init__(self, fake: Fake) -> None:
        self.fake, self.data = fake, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.fake.transports.add(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self.fake.transports.discard(self.transport)

    def data_received(self, data: bytes) -> None:
        self.data += data
        head, found, body = self.data.partition(b"\r\n\r\n")
        if not found:
            return
        lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-len")]
        if lengths and len(body) < int(lengths[0].split(b":")[1]):
            return
        self.data = b""
        method, path, _ = head.decode().split("\r\n")[0].split(" ")
        at = clock.seconds(clock.current().now())
        self.fake.requests.append(
            SimpleNamespace(
                at=at, method=method, path=path, head=head, body=body,
                peer=self.transport.get_extra_info("peername")[1],
            )
        )  # fmt: skip
        task = asyncio.ensure_future(self.fake.answer(method, path, self.transport))
        self.fake.tasks.add(task)
        task.add_done_callback(self.fake.tasks.discard)

    def eof_received(self) -> bool:
        return False


ACCOUNTS = ("/metrics", "/is_sleeping", "/is_paused")

Play = Callable[[asyncio.Transport], Awaitable[None]]


class Fake:
    """An engine whose answers are bytes, or plays on the transport; set them at any time."""

    def __init__(self, chat: bytes | Play | None = None, models: object = ("qwen",)) -> None:
        self.chat: bytes | Play = chat if chat is not None else reply(200, completion())
        self.models: object = models
        self.health: bytes | Play = reply(200)
        self.accounts_of: dict[str, bytes | Play] = {}
        """What it answers to /metrics, /is_sleeping, /is_paused; 404 unless it is here."""
        self.requests: list[SimpleNamespace] = []
        self.transports: set[asyncio.Transport] = set()
        self.tasks: set[asyncio.Future[None]] = set()
        self.port = 0
        self.server: asyncio.Server | None = None
        self.owner: socket.socket | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def at(self, method: str) -> list[float]:
        """When listings (GET) or probes (POST) came, in seconds; questions for an account do not
        count.
        """
        return [r.at for r in self.requests if r.method == method and r.path not in ACCOUNTS]

    @property
    def accounts(self) -> list[tuple[float, str]]:
        """When the engine was asked for an account of itself, and where."""
        return [(r.at, r.path) for r in self.requests if r.path in ACCOUNTS]

    async def answer(self, method: str, path: str, transport: asyncio.Transport) -> None:
        if path == "/health":
            play = self.health
        elif path in ACCOUNTS:
            play = self.accounts_of.get(path, reply(404))
        elif path == "/v1/models":
            models = self.models
            if isinstance(models, tuple):
                play = reply(200, {"data": [{"id": name} for name in models]})
            else:
                play = models  # type: ignore[assignment]
        else:
            play = self.chat
        if isinstance(play, bytes):
            transport.write(play)
        else:
            await play(transport)

    def _own_a_port(self) -> None:
        """Bound and never listening: when the server closes, nobody else gets the port."""
        guard = socket.socket()
        guard.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        guard.bind(("127.0.0.1", 0))
        self.port = guard.getsockname()[1]
        weakref.finalize(self, guard.close)

    def reserve(self) -> None:
        """Own a port that refuses until `bind_at`."""
        self.owner = socket.socket()
        self.owner.bind(("127.0.0.1", 0))
        self.owner.setblocking(False)
        self.port = self.owner.getsockname()[1]

    def bind_at(self, at: float) -> None:
        """Listen from `at` seconds on, before anything else that is due then."""

        def listen() -> None:
            assert self.owner is not None
            self.owner.listen(4096)
            self.tasks.add(asyncio.ensure_future(self.__aenter__()))

        clock.current().call_at(clock.ns(at), listen, first=True)

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        if self.owner is not None:
            self.server = await loop.create_server(lambda: Peer(self), sock=self.owner)
        else:
            if not self.port:
                self._own_a_port()
            self.server = await loop.create_server(lambda: Peer(self), "127.0.0.1", self.port)
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self.server is not None
        self.server.close()
        tasks = list(self.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        while self.transports:
            for transport in list(self.transports):
                transport.abort()
            await asyncio.sleep(0)


async def silent(transport: asyncio.Transport) -> None:
    """Never answer."""
    await asyncio.get_running_loop().create_future()


def dribble(every: float, first: bytes = b"HTTP/1.1 200 OK\r\nx: ") -> Play:
    """Send a byte now and then, for ever."""

    async def play(transport: asyncio.Transport) -> None:
        transport.write(first)
        while True:
            await asyncio.sleep(every)
            transport.write(b"a")

    return play


def then_close(data: bytes) -> Play:
    """Send bytes, then FIN."""

    async def play(transport: asyncio.Transport) -> None:
        transport.write(data)
        transport.close()

    return play


def sequence(*plays: bytes | Play) -> Play:
    """Another answer each time; the last one for ever."""
    left = list(plays)

    async def play(transport: asyncio.Transport) -> None:
        now = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(now, bytes):
            transport.write(now)
        else:
            await now(transport)

    return play


@pytest.fixture
def raw() -> SimpleNamespace:
    """The vocabulary of fake engines."""
    return SimpleNamespace(
        Fake=Fake,
        reply=reply,
        completion=completion,
        silent=silent,
        dribble=dribble,
        then_close=then_close,
        sequence=sequence,
    )
