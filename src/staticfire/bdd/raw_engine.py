"""An engine whose chat answers are the very bytes that a scenario writes down."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import struct
from contextlib import suppress

from staticfire.clock.virtual import BACKLOG
from staticfire.errors import WrongInput

__all__ = ["RawEngine", "read_play"]

_PAUSE = re.compile(r"\[(\d+(?:\.\d+)?) s\]")
_WORDS = ("[close]", "[reset]", "[for ever]")

Play = tuple[bytes | float | str, ...]


def read_play(text: str) -> Play:
    r"""What is played to a chat request: each line is one write; `¶` is CRLF, `\x00` a byte.

    `[0.5 s]` waits, `[close]` ends in order, `[reset]` by RST, `[for ever]` sends the line before
    it again and again; after the last line the connection stays open. Raises WrongInput.
    """
    play: list[bytes | float | str] = []
    for line in filter(None, (line.strip() for line in text.splitlines())):
        pause = _PAUSE.fullmatch(line)
        if pause:
            play.append(float(pause[1]))
        elif line in _WORDS:
            play.append(line)
        elif line.startswith("["):
            known = f"[0.5 s], {', '.join(_WORDS)}"
            raise WrongInput("raw engine", expected=known, found=line)
        else:
            escaped = line.replace("¶", r"\r\n").encode("latin-1")
            play.append(escaped.decode("unicode_escape").encode("latin-1"))
    return tuple(play)


class RawEngine:
    """Lists one model honestly; every other request gets the play."""

    def __init__(self, name: str, model: str, play: Play, listing: Play | None = None) -> None:
        self.name, self.url = name, ""
        self._play = play
        self._listing = listing
        self._model = model
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._seen: list[str] = []

    async def start(self) -> None:
        self._server = await asyncio.start_server(
            self._serve, "127.0.0.1", 0, backlog=BACKLOG, limit=1 << 20
        )
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)

    def timeline(self) -> list[str]:
        return list(self._seen)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            try:
                await self._answer(reader, writer)
            finally:
                writer.transport.abort()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        found = re.search(r"(?i)\r\ncontent-length: (\d+)", head)
        await reader.readexactly(int(found[1]) if found else 0)
        method, path, _ = head.split(" ", 2)
        self._seen.append(f"{method} {path}")
        if path == "/v1/models":
            await self._perform(writer, self._listing or self._honest())
        elif method == "GET":
            await self._perform(writer, (b"HTTP/1.1 404 X\r\ncontent-length: 0\r\n\r\n",))
        else:
            await self._perform(writer, self._play)
        await reader.read()  # held open until the client leaves

    def _honest(self) -> Play:
        body = json.dumps({"object": "list", "data": [{"id": self._model}]}).encode()
        return (b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body),)

    async def _perform(self, writer: asyncio.StreamWriter, play: Play) -> None:
        last = b""
        for act in play:
            if isinstance(act, bytes):
                last = act
                writer.write(act)
                await writer.drain()
                await asyncio.sleep(0)  # a read of its own on the other side
            elif isinstance(act, float):
                await asyncio.sleep(act)
            elif act == "[for ever]":
                while not writer.transport.is_closing():
                    writer.write(last)
                    await writer.drain()
                    await asyncio.sleep(0)
            elif act == "[close]":
                writer.write_eof()
                return
            else:
                connection: socket.socket = writer.get_extra_info("socket")
                linger = struct.pack("ii", 1, 0)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                writer.transport.abort()
                return
