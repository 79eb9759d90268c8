"""One client connection on h11 that keeps what arrived, whatever happens to it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from urllib.parse import urlsplit

import h11

from staticfire import clock
from staticfire.clock import ns
from staticfire.judge.answer import Answer, End
from staticfire.judge.notes import body_notes, framing_notes, rest_note

__all__ = ["Connection"]

HEAD_LIMIT = 1 << 20
"""Bytes of head that the judge reads; h11's own limit is too small for fault tests."""

Headers = Iterable[tuple[str, str]]


class Connection(asyncio.Protocol):
    """A connection to one server; `ask` sends a request and returns its answer, never raises."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 80
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_LIMIT)
        self._transport: asyncio.Transport | None = None
        self._ended: asyncio.Future[tuple[End, str]] | None = None
        self._closed = False
        self._eof = False
        self._begin()

    @property
    def _gone(self) -> bool:
        """Whether either side has closed."""
        return self._closed or self._eof

    @property
    def usable(self) -> bool:
        """Whether another request can be sent on it."""
        done = {self._http.our_state, self._http.their_state} <= {h11.DONE, h11.IDLE}
        return self._transport is not None and not self._closed and done

    async def ask(
        self, method: str, target: str, headers: Headers = (), body: bytes = b"", *, deadline: float
    ) -> Answer:
        """Send one request; wait at most `deadline` seconds for the answer's end.

        A passed deadline is a client that leaves: the connection is closed. A kept connection that
        was closed in the meantime is told, and nothing is sent on it.
        """
        asked_at = clock.current().now()
        if self._gone:
            return Answer(
                end=End.CLOSED,
                detail="the connection was closed before this request",
                asked_at=asked_at,
                ended_at=asked_at,
                closed=True,
            )
        self._begin()
        self._ended = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout_at((asked_at + ns(deadline)) / clock.NS):
                if self._transport is None:
                    await asyncio.get_running_loop().create_connection(
                        lambda: self, self._host, self._port
                    )
                self._send(method, target, headers, body)
                end, detail = await self._ended
        except TimeoutError:
            end = End.UNFINISHED if self._raw else End.SILENT
            detail = f"nothing ended it in {deadline:g} s"
        except ConnectionRefusedError as error:
            end, detail = End.REFUSED, str(error)
        except OSError as error:
            end, detail = End.RESET, str(error)
        headers_in = _raw_headers(self._response)
        encoding = next((v for n, v in headers_in if n.lower() == "content-encoding"), None)
        answer = Answer(
            end=end,
            detail=detail,
            status=self._response.status_code if self._response else None,
            head=self._head or _head_of(bytes(self._raw)),
            headers=headers_in,
            body=bytes(self._body),
            pieces=tuple(self._pieces),
            notes=tuple(self._notes) + body_notes(encoding, bytes(self._body)),
            interim=tuple(self._interim),
            trailers=tuple(self._trailers),
            asked_at=asked_at,
            head_at=self._head_at,
            ended_at=clock.current().now(),
            closed=self._gone,
        )
        if end is not End.WHOLE:
            self.close()
        return answer

    def close(self) -> None:
        """Close the connection in order."""
        if self._transport is not None:
            self._transport.close()

    # --- one request

    def _begin(self) -> None:
        if self._http.our_state is h11.DONE and self._http.their_state is h11.DONE:
            self._http.start_next_cycle()
        self._raw = bytearray()
        self._head = b""
        self._head_at: int | None = None
        self._body = bytearray()
        self._pieces: list[tuple[int, int]] = []
        self._notes: list[str] = []
        self._interim: list[int] = []
        self._trailers: list[tuple[str, str]] = []
        self._response: h11.Response | None = None

    def _send(self, method: str, target: str, headers: Headers, body: bytes) -> None:
        assert self._transport is not None
        fields = [("Host", f"{self._host}:{self._port}"), *headers]
        if body or method == "POST":
            fields.append(("Content-Length", str(len(body))))
        request = h11.Request(method=method, target=target, headers=fields)
        parts = [self._http.send(request)]
        if body:
            parts.append(self._http.send(h11.Data(data=body)))
        parts.append(self._http.send(h11.EndOfMessage()))
        self._transport.write(b"".join(part for part in parts if part))

    def _end(self, end: End, detail: str = "") -> None:
        if self._ended is not None and not self._ended.done():
            self._ended.set_result((end, detail))

    def _pull(self) -> None:
        now = clock.current().now()
        while self._ended is not None and not self._ended.done():
            try:
                event = self._http.next_event()
            except h11.RemoteProtocolError as error:
                self._end(End.CUT if self._eof else End.MALFORMED, str(error))
                return
            if isinstance(event, h11.Response):
                self._response, self._head_at = event, now
                self._keep_head()
            elif isinstance(event, h11.Data):
                self._body += event.data
                self._pieces.append((now, len(event.data)))
            elif isinstance(event, h11.EndOfMessage):
                trailing, _ = self._http.trailing_data
                if trailing:
                    self._notes.append(rest_note(trailing))
                self._trailers += _text(event.headers.raw_items())
                self._end(End.WHOLE)
            elif isinstance(event, h11.InformationalResponse):
                self._interim.append(event.status_code)
                del self._raw[: len(_head_of(bytes(self._raw)))]
            else:
                return  # needs data, paused, or closed

    def _keep_head(self) -> None:
        self._head = _head_of(bytes(self._raw))
        self._notes.extend(framing_notes(self._head))

    # --- asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if not self._head:
            self._raw += data
            if not b"HTTP/".startswith(self._raw[:5]):
                self._end(End.MALFORMED, "it does not begin as an HTTP answer does")
        self._receive(data)

    def eof_received(self) -> None:
        self._eof = True
        if not self._raw:
            self._end(End.CLOSED)
        self._receive(b"")

    def connection_lost(self, exc: Exception | None) -> None:
        self._closed = True
        if exc is not None:
            self._end(End.RESET, str(exc))
        self._end(End.CUT if self._raw else End.CLOSED)

    def _receive(self, data: bytes) -> None:
        with suppress(h11.RemoteProtocolError):  # bytes after the end; `_pull` has told them
            self._http.receive_data(data)
        self._pull()


def _raw_headers(response: h11.Response | None) -> tuple[tuple[str, str], ...]:
    if response is None:
        return ()
    return _text(response.headers.raw_items())


def _text(fields: Iterable[tuple[bytes, bytes]]) -> tuple[tuple[str, str], ...]:
    return tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in fields)


def _head_of(raw: bytes) -> bytes:
    """The bytes up to the first empty line, which is the head's end."""
    ends = [raw.find(mark) + len(mark) for mark in (b"\r\n\r\n", b"\n\n") if mark in raw]
    return raw[: min(ends)] if ends else raw
