"""One client connection, whose replies end exactly where their framing says."""

from __future__ import annotations

import asyncio
import re
import select
from collections.abc import Callable, Iterable
from typing import cast

import httptools

from staticfire.errors import WrongInput
from staticfire.wire.errors import Cut, Malformed, TooLarge, WireError
from staticfire.wire.exchange import Exchange, Reply
from staticfire.wire.head import Head, Header, judge_reply_head
from staticfire.wire.request_bytes import request_bytes
from staticfire.wire.taken import acknowledged
from staticfire.wire.url import Address

__all__ = ["Connection"]

_LINE_END = re.compile(rb"[\r\n\0]")

HEAD_LIMIT = 256 << 10  # peers pass 64 KiB heads; nobody needs more than this


class Connection:
    """A connection to one worker, used for one exchange after another.

    An asyncio protocol by its methods: a class with an interpreted base is compiled to no fast one.
    """

    def __init__(
        self, address: Address, on_lost: Callable[[Connection], None] | None = None
    ) -> None:
        self.address = address
        # Asked for once: each time costs a system call (getpid) up to Python 3.11.
        self.loop = asyncio.get_running_loop()
        self.used = 0
        self.excess = False
        """Bytes came after the end of the last reply: where that is was not true, or they are stray."""
        self.on_lost = on_lost
        self._host = address.authority.encode()
        self._base = address.base.encode()
        self._transport: asyncio.Transport | None = None
        self._exchange: Exchange | None = None
        self._sent = self._sent_before = 0  # bytes, in all and up to the last request
        self._poll: select.poll | None = None
        self._keep = True
        self._aborted = self._paused = self._done = False
        self._parser: httptools.HttpResponseParser
        self._headers: list[Header] = []
        self._head_bytes = 0
        self._body: list[bytes] = []
        self._head: Head | None = None

    # -- for the caller

    @property
    def free(self) -> bool:
        """True while another exchange may start, as far as this side knows."""
        transport = self._transport
        return (
            transport is not None
            and self._keep
            and self._exchange is None
            and not transport.is_closing()
        )

    @property
    def reusable(self) -> bool:
        """True while another exchange may start, by asking the socket.

        An idle connection has nothing to read: whatever there is, a FIN as much as stray bytes,
        means that it is dead. Asking finds that out before a request is spent on it.
        """
        transport = self._transport
        if not self.free or transport is None:
            return False
        if self._poll is None:
            descriptor = transport.get_extra_info("socket").fileno()
            if descriptor < 0:
                return False
            self._poll = select.poll()
            self._poll.register(descriptor, select.POLLIN)
        return not self._poll.poll(0)

    def exchange(
        self, method: str | bytes, target: str | bytes, headers: Iterable[Header] = (),
        body: bytes = b"",
    ) -> Exchange:  # fmt: skip
        """Send one request in one write; the reply arrives in what is returned.

        Host and Content-Length are ours: leave them out of `headers`. `target` follows the
        address's base path. Raises Cut when the connection is already gone.
        """
        if isinstance(method, str):
            method = method.encode()
        if isinstance(target, str):
            target = target.encode()
        transport = self._transport
        if transport is None or transport.is_closing() or self._exchange is not None:
            raise Cut("the connection is closed or in use")
        data = request_bytes(method, self._base + target, self._host, headers, body)
        self._parser = httptools.HttpResponseParser(self)
        self._headers, self._body = [], []
        self._head_bytes, self._head = 0, None
        self._done = self.excess = False
        self.used += 1
        exchange = self._exchange = Exchange(self, method)
        self._sent_before = self._sent
        self._sent += len(data)
        transport.write(data)
        return exchange

    async def fetch(
        self, method: str | bytes, target: str | bytes, headers: Iterable[Header] = (),
        body: bytes = b"", limit: int = 1 << 20,
    ) -> Reply:  # fmt: skip
        """One whole reply, whole by its own framing; a socket held open after it is not awaited.

        `limit` is in bytes of body. Raises Malformed, Cut or TooLarge, and aborts the connection
        on any failure, a cancellation too. The deadline is the caller's.
        """
        checked = tuple(headers)
        if any(_LINE_END.search(part) for header in checked for part in header):
            raise WrongInput("header", expected="no line ends", found=repr(checked))
        exchange = self.exchange(method, target, checked, body)
        try:
            head = await exchange.head()
            if head.framing == "length" and head.length is not None and head.length > limit:
                raise TooLarge(f"the body has {head.length} bytes, over the limit of {limit}")
            chunks: list[bytes] = []
            size = 0
            async for chunk in exchange:
                size += len(chunk)
                if size > limit:
                    raise TooLarge(f"the body is over the limit of {limit} bytes")
                chunks.append(chunk)
        except BaseException:
            exchange.abort()
            self.abort()
            raise
        return Reply(head.status, head.headers, b"".join(chunks))

    def close(self) -> None:
        """Close in order: what was written still goes out."""
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Close at once."""
        self._aborted = True
        if self._transport is not None:
            self._transport.abort()

    def pause(self) -> None:
        """Stop reading."""
        if not self._paused and self._transport is not None and not self._transport.is_closing():
            self._paused = True
            self._transport.pause_reading()

    def resume(self) -> None:
        """Read again."""
        if self._paused and self._transport is not None:
            self._paused = False
            if not self._transport.is_closing():
                self._transport.resume_reading()

    # -- asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is none by class

    def data_received(self, data: bytes) -> None:
        exchange = self._exchange
        if exchange is None:  # bytes that nobody asked for
            self.excess = True
            self._keep = False
            self.abort()
            return
        exchange.began = True
        error: WireError | None = None
        if self._head is None:
            self._head_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            error = Malformed("it switched protocols, which nobody asked for")
        except httptools.HttpParserCallbackError as wrapped:
            cause = wrapped.__context__
            error = cause if isinstance(cause, WireError) else Malformed(str(cause or wrapped))
        except httptools.HttpParserError as wrong:
            if self._done:  # the reply is whole by its framing, the line is not
                self.excess = True
            else:
                error = Malformed(str(wrong))
        if self._head is None and error is None and self._head_bytes > HEAD_LIMIT:
            error = TooLarge(f"the head is over {HEAD_LIMIT} bytes")
        if self._body:
            chunks, self._body = self._body, []
            exchange.body(chunks[0] if len(chunks) == 1 else b"".join(chunks))
        if self._done or error is not None:
            self._finish(None if self._done else error)

    def eof_received(self) -> bool:
        return False  # the transport closes; connection_lost judges

    def pause_writing(self) -> None:
        pass  # a request lies in memory whole, wherever it waits

    def resume_writing(self) -> None:
        pass

    def connection_lost(self, exc: Exception | None) -> None:
        self._keep = False
        exchange = self._exchange
        if exchange is not None:
            head = self._head
            reset = exc is not None or self._aborted
            if head is not None and head.framing == "eof" and not reset:
                self._finish(None)
            else:
                where = "before its head" if head is None else "in its body"
                how = "was reset" if reset else "was closed"
                why = f"the reply {how} {where}"
                taken = exchange.began or self._taken(exc)
                self._finish(Cut(why, reset=reset, began=exchange.began, taken=taken))
        self._transport = None
        if self.on_lost is not None:
            self.on_lost(self)

    def _taken(self, exc: Exception | None) -> bool:
        """Whether a byte of the last request may have reached the peer.

        A FIN acknowledges what was taken before it; a reset may come ahead of a late
        acknowledgement, and proves nothing.
        """
        transport = self._transport
        if transport is None or self._aborted or isinstance(exc, ConnectionResetError):
            return True
        count = acknowledged(transport)
        return count is None or count > self._sent_before

    def _finish(self, error: WireError | None) -> None:
        exchange, self._exchange = self._exchange, None
        transport = self._transport
        if transport is not None and not transport.is_closing():
            if error is not None:
                self._keep = False
                transport.abort()
            elif not self._keep or transport.get_write_buffer_size():
                self._keep = False
                transport.close()
            elif self._paused:
                self.resume()
        if exchange is not None:
            exchange.end(error)

    # -- httptools callbacks

    def on_message_begin(self) -> None:
        if self._done:
            self._keep = False

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._head is None:
            self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        if self._done or self._exchange is None:
            return
        status = self._parser.get_status_code()
        if 100 <= status < 200:
            if status == 101:
                raise Malformed("it switched protocols, which nobody asked for")
            self._headers = []
            return
        head = judge_reply_head(
            self._exchange.method, status, self._parser.get_http_version(), tuple(self._headers)
        )
        self._head = head
        if head.framing == "none":
            # llhttp would wait for the body that a HEAD reply announces.
            self._done = True
            if self._exchange.method == b"HEAD" or not self._parser.should_keep_alive():
                self._keep = False
        self._exchange.headed(head)

    def on_body(self, data: bytes) -> None:
        if not self._done:
            self._body.append(data)

    def on_message_complete(self) -> None:
        if self._head is None or self._done:
            return
        self._done = True
        if not self._parser.should_keep_alive():
            self._keep = False
