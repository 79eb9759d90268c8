"""A raw worker and a raw client for router tests: plain asyncio streams, no HTTP code of ours."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import weakref
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from staticfire.router import Router, Settings

ANSWER = b'{"choices":[{"message":{"role":"assistant","content":"ok"}}],"model":"qwen"}'


def whole(status, body=ANSWER, *lines):
    """A whole answer as bytes."""
    head = [b"HTTP/1.1 %d X" % status, b"content-type: application/json", *lines]
    return b"\r\n".join(head) + b"\r\ncontent-length: %d\r\n\r\n" % len(body) + body


SSE = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def chunk(data):
    return b"%x\r\n%b\r\n" % (len(data), data)


@dataclass
class Worker:
    """Lists `models`; plays `chat(reader, writer, request)` for users, who do not send max_tokens 2.

    Readiness probes are answered well, in the name of the first model, unless `probe` says otherwise.
    """

    models: tuple[str, ...] = ("qwen",)
    chat: object = whole(200)
    listing: object = None
    probe: object = None
    port: int = 0
    seen: list = field(default_factory=list)
    probes: int = 0
    connections: int = 0
    closed_at: list = field(default_factory=list)
    tasks: set = field(default_factory=set)
    server: object = None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    async def start(self):
        if not self.port:
            self._own_a_port()
        self.server = await asyncio.start_server(
            self.serve, "127.0.0.1", self.port, backlog=4096, reuse_address=True
        )
        return self

    def _own_a_port(self):
        """Bound and never listening: nobody else gets the port between two lives."""
        guard = socket.socket()
        guard.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        guard.bind(("127.0.0.1", 0))
        self.port = guard.getsockname()[1]
        weakref.finalize(self, guard.close)

    async def stop(self):
        self.server.close()
        for task in self.tasks:
            task.cancel()
        if self.tasks:
            await asyncio.wait(self.tasks)
        self.tasks.clear()
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    async def serve(self, reader, writer):
        self.tasks.add(asyncio.current_task())
        self.connections += 1
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                while not writer.is_closing():
                    await self.one(reader, writer)
        finally:
            self.closed_at.append(asyncio.get_running_loop().time())
            writer.close()

    async def one(self, reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        size = [x for x in head.lower().split(b"\r\n") if x.startswith(b"content-length:")]
        body = await reader.readexactly(int(size[0][15:])) if size else b""
        if b"/v1/models" in head.split(b"\r\n")[0]:
            data = [{"id": model, "object": "model"} for model in self.models]
            listed = whole(200, json.dumps({"object": "list", "data": data}).encode())
            play = listed if self.listing is None else self.listing
        elif b'"max_tokens":2' in body.replace(b" ", b""):
            self.probes += 1
            named = ANSWER.replace(b"qwen", self.models[0].encode())
            play = whole(200, named) if self.probe is None else self.probe
        else:
            self.seen.append((head, body))
            play = self.chat
        if isinstance(play, bytes):
            writer.write(play)
        else:
            await play(reader, writer)


@dataclass
class Client:
    """One raw connection to the router."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def send(
        self,
        body=b'{"model":"qwen"}',
        *lines,
        path=b"/v1/chat/completions",
        method=b"POST",
        host=b"r",
    ):
        head = [method + b" " + path + b" HTTP/1.1", b"host: " + host, *lines]
        self.writer.write(b"\r\n".join(head) + b"\r\ncontent-length: %d\r\n\r\n" % len(body) + body)

    async def head(self):
        """Status, headers (lower-case names)."""
        lines = (await self.reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
        pairs = (line.split(b": ", 1) for line in lines[1:-2])
        return int(lines[0][9:12]), {key.lower(): value for key, value in pairs}

    async def ask(self, *args, **kwargs):
        """One request, one whole answer with a length or in chunks: status, headers, body."""
        self.send(*args, **kwargs)
        status, headers = await self.head()
        if b"content-length" in headers:
            return status, headers, await self.reader.readexactly(int(headers[b"content-length"]))
        return status, headers, await self.chunks()

    async def chunks(self):
        """A chunked body; IncompleteReadError where it is cut."""
        body = b""
        while size := int(await self.reader.readuntil(b"\r\n"), 16):
            body += (await self.reader.readexactly(size + 2))[:-2]
        await self.reader.readexactly(2)
        return body


@contextlib.asynccontextmanager
async def _stand(*workers, wait=1.5, **settings):
    """Workers and a router that has looked at them for `wait` seconds; all gone afterwards."""
    for worker in workers:
        if worker.server is None:
            await worker.start()
    urls = tuple(worker.url for worker in workers)
    settings = {"policy": "round_robin", **settings}
    router = Router(Settings(worker_urls=urls, port=0, **settings))
    await router.start()
    clients = []

    async def connect():
        client = Client(*await asyncio.open_connection("127.0.0.1", router.port))
        clients.append(client)
        return client

    router_and_all = SimpleNamespace(router=router, connect=connect, workers=router.workers)
    try:
        await asyncio.sleep(wait)
        yield router_and_all
    finally:
        for client in clients:
            client.writer.close()
        await router.stop()
        for worker in workers:
            await worker.stop()


@pytest.fixture
def raw():
    """The raw worker's class, the maker of stands, bytes to answer with."""
    return SimpleNamespace(
        Worker=Worker, stand=_stand, whole=whole, sse=SSE, chunk=chunk, answer=ANSWER
    )
