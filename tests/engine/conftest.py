"""A raw client for mock engines: what came, when, and how it ended."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from staticfire.clock import NS, current
from staticfire.clock.virtual import run
from staticfire.engine import Fault, Honest, MockEngine, Request, Rule, Script


@dataclass
class Heard:
    """Bytes with the seconds at which they came; `ended` is fin, reset or open."""

    pieces: list[tuple[float, bytes]] = field(default_factory=list)
    ended: str = "open"
    lasted: float = 0.0

    @property
    def data(self) -> bytes:
        return b"".join(piece for _, piece in self.pieces)

    @property
    def head(self) -> bytes:
        return self.data.partition(b"\r\n\r\n")[0]

    @property
    def status(self) -> int:
        return int(self.data[9:12])

    @property
    def body(self) -> bytes:
        raw = self.data.partition(b"\r\n\r\n")[2]
        chunked = b"transfer-encoding: chunked" in self.head.lower()
        return b"".join(chunks(raw)) if chunked else raw

    @property
    def events(self) -> list[bytes]:
        return [event for event in self.body.split(b"\n\n") if event]

    @property
    def times(self) -> list[float]:
        return [at for at, _ in self.pieces]

    def json(self) -> Any:
        return json.loads(self.body)


def chunks(raw: bytes) -> list[bytes]:
    """The chunks that arrived, without the terminator and without an unfinished one."""
    found = []
    while True:
        size, found_line, rest = raw.partition(b"\r\n")
        if not found_line or not size or int(size, 16) == 0 or len(rest) < int(size, 16) + 2:
            return found
        found.append(rest[: int(size, 16)])
        raw = rest[int(size, 16) + 2 :]


class Http:
    """What the tests of this room say on a socket."""

    MESSAGES = ({"role": "user", "content": "hi"},)

    @staticmethod
    def request(
        method: str = "POST",
        path: str = "/v1/chat/completions",
        body: object = None,
        headers: tuple[str, ...] = (),
        *,
        close: bool = True,
    ) -> bytes:
        raw = (
            body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        )
        lines = [f"{method} {path} HTTP/1.1", "Host: engine", f"Content-Length: {len(raw)}"]
        if raw and not any(line.lower().startswith("content-type") for line in headers):
            lines.append("Content-Type: application/json")
        lines += [*headers, *(["Connection: close"] if close else [])]
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + raw

    @classmethod
    def chat(cls, *, close: bool = True, headers: tuple[str, ...] = (), **fields: Any) -> bytes:
        body = {"messages": cls.MESSAGES, "max_tokens": 4, **fields}
        return cls.request(body=body, headers=headers, close=close)

    @classmethod
    def get(cls, path: str, *, close: bool = True) -> bytes:
        return cls.request("GET", path, close=close)

    @staticmethod
    async def talk(engine: MockEngine, request: bytes, *, patience: float = 600.0) -> Heard:
        """Send a request and listen until the connection ends or `patience` seconds passed."""
        reader, writer = await asyncio.open_connection("127.0.0.1", engine.port)
        try:
            writer.write(request)
            return await Http.listen(reader, patience=patience)
        finally:
            writer.close()

    @classmethod
    def played(
        cls,
        *faults: Fault,
        request: bytes | None = None,
        patience: float = 600.0,
        close: bool = True,
        **fields: Any,
    ) -> tuple[Heard, Request]:
        """What one client hears of a chat answer that faults alter, and the journal's request."""

        async def main() -> tuple[Heard, Request]:
            script = Script(rules=[Rule("chat", list(faults) or Honest())])
            async with MockEngine(script) as engine:
                asked = cls.chat(close=close, **fields) if request is None else request
                heard = await cls.talk(engine, asked, patience=patience)
                return heard, engine.journal.requests()[0]

        return run(main())

    @staticmethod
    async def listen(reader: asyncio.StreamReader, *, patience: float = 600.0) -> Heard:
        heard = Heard()
        began = current().now()
        try:
            async with asyncio.timeout(patience):
                while piece := await reader.read(65536):
                    heard.pieces.append(((current().now() - began) / NS, piece))
            heard.ended = "fin"
        except TimeoutError:
            heard.ended = "open"
        except ConnectionResetError:
            heard.ended = "reset"
        heard.lasted = (current().now() - began) / NS
        return heard


@pytest.fixture
def http() -> type[Http]:
    return Http
