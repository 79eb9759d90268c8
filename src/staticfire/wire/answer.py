"""The answer to one request, framed for the client that asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import TYPE_CHECKING, Literal

from staticfire.wire.head import Header

if TYPE_CHECKING:
    from staticfire.wire.server import ServerConnection

__all__ = ["Answer"]

_PHRASES = {status.value: status.phrase.encode() for status in HTTPStatus}


class Answer:
    """Start it, write to it, finish it; or cut it.

    The head goes out with the first body bytes, in one write. A cut is never a clean end: an
    answer that is not finished closes the connection short of its framing, and by a reset where
    the framing is the close itself.
    """

    __slots__ = (
        "_connection", "_framing", "_head", "_left", "_method", "_version", "ended", "on_pause",
        "on_resume", "started", "status", "whole",
    )  # fmt: skip

    def __init__(self, connection: ServerConnection, method: bytes, version: str) -> None:
        self._connection = connection
        self._method = method
        self._version = version
        self._framing: Literal["none", "length", "chunked", "eof"] = "none"
        self._left = 0
        self._head = b""
        self.started = False
        self.status = 0
        """The status, 0 until the answer is begun."""
        self.ended = False
        self.whole = False
        """True once it has ended as its framing says."""
        self.on_pause: Callable[[], None] | None = None
        self.on_resume: Callable[[], None] | None = None

    @property
    def peer(self) -> str:
        """The address that the client asks from."""
        return self._connection.peer

    @property
    def paused(self) -> bool:
        """True while the client reads more slowly than it is written to."""
        return self._connection.writing_paused

    def last(self) -> None:
        """Let this be the last answer of its connection, and say so in its head."""
        self._connection.keep = False

    def start(self, status: int, headers: Iterable[Header], length: int | None = None) -> None:
        """The head. `length` is the body's size in bytes, None for a body of unknown size.

        Framing and Connection are ours: leave Content-Length, Transfer-Encoding and Connection
        out of `headers`. With 204, 304 and in answer to HEAD no body goes out.
        """
        self.started = True
        self.status = status
        bare = self._method == b"HEAD" or status in (204, 304)
        parts = [b"HTTP/1.1 %d %b\r\n" % (status, _PHRASES.get(status, b"Unknown"))]
        for key, value in headers:
            parts += (key, b": ", value, b"\r\n")
        if length is not None and status != 204:
            parts.append(b"content-length: %d\r\n" % length)
            self._framing, self._left = "length", length
        elif status not in (204, 304):
            if self._version == "1.1":
                parts.append(b"transfer-encoding: chunked\r\n")
                self._framing = "chunked"
            else:
                self._framing = "eof"
                self._connection.keep = False
        if bare:
            self._framing = "none"
        if not self._connection.keep:
            parts.append(b"connection: close\r\n")
        elif self._version == "1.0":
            parts.append(b"connection: keep-alive\r\n")
        parts.append(b"\r\n")
        self._head = b"".join(parts)

    def flush(self) -> None:
        """Send the head now, before any body bytes."""
        if self._head:
            head, self._head = self._head, b""
            self._connection.write(head)

    def write(self, data: bytes) -> None:
        """Body bytes, in one write with the head if that has not gone out."""
        framing = self._framing
        if framing == "chunked":
            if data:
                self._out(b"%x\r\n%b\r\n" % (len(data), data))
        elif framing != "none":
            self._left -= len(data)
            self._out(data)

    def finish(self, data: bytes = b"") -> None:
        """Last body bytes, then a clean end. Short of a declared length it is a cut instead."""
        if self._framing == "chunked":
            last = b"%x\r\n%b\r\n0\r\n\r\n" % (len(data), data) if data else b"0\r\n\r\n"
            self._out(last)
        elif self._framing == "length" and self._left == len(data):
            self._out(data)  # hot: a whole answer, or the rest of one
        else:
            self.write(data)
            self.flush()
            if self._framing == "length" and self._left:
                self.cut()
                return
        self.ended = self.whole = True
        self._connection.answered(clean=True)

    def send(self, status: int, headers: Iterable[Header], body: bytes) -> None:
        """A whole answer in one write."""
        self.start(status, headers, len(body))
        self.finish(body)

    def cut(self, *, at_once: bool = False) -> None:
        """End short: what was written still goes out, the client sees that it is not whole.

        `at_once` throws away what the client has not taken, for one that reads no more.
        """
        if self.ended:
            return
        if at_once:
            self.ended = True
            self._connection.abort_answer()
            return
        self.flush()
        self.ended = True
        if self._framing in ("eof", "none"):
            self._connection.reset_on_close()
        self._connection.answered(clean=False)

    def _out(self, data: bytes) -> None:
        head = self._head
        if head:
            self._head = b""
            data = head + data
        self._connection.write(data)
