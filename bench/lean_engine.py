"""An engine that costs next to nothing, so that what is measured is the router before it.

    python -m bench.lean_engine

Prints its port; ends with its input. It answers what routers ask an engine, and chat: JSON of about
600 bytes, or a stream that is paced by a note in the prompt, `pace=SECONDS events=N`, because
some routers drop the fields that they do not know. No pace sends all events in one write.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[1])

from bench.serve import BARE_ANSWER, EVENT

__all__ = ["MODEL", "note"]

MODEL = "qwen"

JSON_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
    b"transfer-encoding: chunked\r\n\r\n"
)
CHUNK = b"%x\r\n%b\r\n" % (len(EVENT), EVENT)
END = b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"

ABOUT_ITSELF = {
    b"/v1/models": b'{"object":"list","data":[{"id":"qwen","object":"model","created":1,'
    b'"owned_by":"bench","max_model_len":8192}]}',
    b"/model_info": b'{"model_path":"qwen","tokenizer_path":"","is_generation":true,'
    b'"served_model_name":"qwen"}',
    b"/server_info": b'{"model_path":"qwen","served_model_name":"qwen","tokenizer_path":"",'
    b'"tp_size":1,"dp_size":1,"version":"0.5.0","max_running_requests":4096}',
    b"/version": b'{"version":"0.11.0"}',
}

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding: *chunked", re.IGNORECASE)
_STREAM = re.compile(rb'"stream": ?true')
_PACE = re.compile(rb"pace=([0-9.]+) events=(\d+)")


def note(pace: float, events: int) -> str:
    """What a prompt says to pace its stream, in seconds."""
    return f"pace={pace:g} events={events}"


class Connection(asyncio.Protocol):
    """Requests one after another; only what routers really send is understood."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.got = b""

    def data_received(self, data: bytes) -> None:
        self.got += data
        while self.got and not self.transport.is_closing():
            end = self.got.find(b"\r\n\r\n")
            if end < 0:
                return
            head, whole = self.got[:end], end + 4
            length = _LENGTH.search(head)
            if length:
                whole += int(length[1])
            elif _CHUNKED.search(head):
                last = self.got.find(b"0\r\n\r\n", whole)
                whole = len(self.got) + 1 if last < 0 else last + 5
            if len(self.got) < whole:
                return
            body, self.got = self.got[end + 4 : whole], self.got[whole:]
            self.answer(head, body)

    def answer(self, head: bytes, body: bytes) -> None:
        if not head.startswith(b"POST"):
            if head.startswith(b"PRI "):  # a router that tries HTTP/2 first
                self.transport.close()
                return
            said = ABOUT_ITSELF.get(head.split(b" ", 2)[1], b'{"status":"ok"}')
            self.transport.write(JSON_HEAD % len(said) + said)
        elif not _STREAM.search(body):
            self.transport.write(JSON_HEAD % len(BARE_ANSWER) + BARE_ANSWER)
        else:
            paced = _PACE.search(body)
            pace, events = (float(paced[1]), int(paced[2])) if paced else (0.0, 2)
            if pace:
                self.transport.write(STREAM_HEAD)
                asyncio.get_running_loop().call_later(pace, self.event, pace, events)
            else:
                self.transport.write(STREAM_HEAD + CHUNK * events + END)

    def event(self, pace: float, left: int) -> None:
        if self.transport.is_closing():
            return
        if left:
            self.transport.write(CHUNK)
            asyncio.get_running_loop().call_later(pace, self.event, pace, left - 1)
        else:
            self.transport.write(END)


async def main() -> None:
    loop = asyncio.get_running_loop()
    listener = await loop.create_server(Connection, "127.0.0.1", 0, backlog=4096)
    print(listener.sockets[0].getsockname()[1], flush=True)
    over = asyncio.Event()
    loop.add_reader(0, lambda: os.read(0, 64) or over.set())
    await over.wait()


if __name__ == "__main__":
    asyncio.run(main())
    os._exit(0)
