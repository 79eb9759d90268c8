"""One client's connection to us, its requests answered in order."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import struct
from collections.abc import Awaitable, Callable
from typing import Protocol, cast

from staticfire.wire.answer import Answer
from staticfire.wire.head import Header
from staticfire.wire.requests import Limits, Refusal, Request, RequestReader

__all__ = ["Handler", "Refuse", "ServerConnection"]

log = logging.getLogger("staticfire.wire")

Handler = Callable[[Request, Answer], Awaitable[None]]
Refuse = Callable[[Refusal], tuple[tuple[Header, ...], bytes]]

_RESET = struct.pack("ii", 1, 0)


class Family(Protocol):
    """Where the connections and the running handlers of one listener are kept."""

    tasks: set[asyncio.Task[None]]

    def opened(self, connection: ServerConnection) -> None: ...
    def closed(self, connection: ServerConnection) -> None: ...


class ServerConnection:
    """Calls the handler for one request at a time; an asyncio protocol by its methods.

    A client that closes its side has left, also when it only half-closed: the handler is
    cancelled. That is how proxies see it, and the only way to notice a leaver before a write.
    """

    _transport: asyncio.Transport

    def __init__(self, handler: Handler, refuse: Refuse, limits: Limits, family: Family) -> None:
        self._handler = handler
        self._refuse = refuse
        self._limits = limits
        self._family = family
        self._loop = asyncio.get_running_loop()
        self._reader = RequestReader(limits)
        self._answer: Answer | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._slow: asyncio.TimerHandle | None = None  # runs while a request is half here
        self._began = (0, 0.0)  # which one that is, and since when
        self._moved = self._loop.time()
        self._reading_paused = False
        self._deaf = False  # bytes are drained, not read
        self._gone = False
        self._asked: tuple[Request, Answer] | None = None  # what is being answered
        self._idle: asyncio.Future[None] | None = None  # where the task waits for the next one
        self._task: asyncio.Task[None] | None = None
        self.keep = True
        self.writing_paused = False

    def drain(self) -> None:
        """Close after the answer under way, or now."""
        self.keep = False
        self._reader.ready.clear()
        if self._asked is None and not self._deaf:
            self._transport.close()
        self._reader.over = True

    def abort(self) -> None:
        """Close at once; a running handler is cancelled."""
        self._transport.abort()
        self._leave()

    # -- for Answer

    @property
    def peer(self) -> str:
        """The client's address, empty where there is none."""
        name = self._transport.get_extra_info("peername")
        return str(name[0]) if name else ""

    def write(self, data: bytes) -> None:
        """Send, unless nobody is there any more."""
        if not self._gone:
            self._transport.write(data)

    def reset_on_close(self) -> None:
        """Make the close a reset, once what was written has gone to the socket."""
        plain = self._transport.get_extra_info("socket")
        if plain is not None and not self._gone:
            with contextlib.suppress(OSError):
                plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)

    def abort_answer(self) -> None:
        """Throw away what was not taken, close."""
        self._answer = None
        self._reader.over = True
        self._reader.ready.clear()
        self._transport.abort()

    def answered(self, *, clean: bool) -> None:
        """The answer has ended."""
        self._answer = None
        self._moved = self._loop.time()
        if not clean or not self.keep:
            self.keep = False
            self._reader.over = True
            self._reader.ready.clear()
            if not self._deaf:
                self._transport.close()

    # -- asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is none by class
        self._family.opened(self)
        self._timer = self._loop.call_later(self._limits.idle, self._check_idle)

    def data_received(self, data: bytes) -> None:
        reader = self._reader
        if self._deaf or reader.over:
            return
        self._moved = self._loop.time()
        reader.feed(data)
        if self._slow is None and not reader.between:
            self._watch()
        if self._asked is None:
            self._continue()
        if len(reader.ready) > self._limits.ahead and not self._reading_paused:
            self._reading_paused = True
            self._transport.pause_reading()

    def eof_received(self) -> bool:
        self._leave()
        return False

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's name
        self._gone = True
        self._family.closed(self)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._slow is not None:
            self._slow.cancel()
        self._leave()

    def pause_writing(self) -> None:
        self.writing_paused = True
        if self._answer is not None and self._answer.on_pause is not None:
            self._answer.on_pause()

    def resume_writing(self) -> None:
        self.writing_paused = False
        if self._answer is not None and self._answer.on_resume is not None:
            self._answer.on_resume()

    # -- one request after another

    def _next(self) -> None:
        reader = self._reader
        request = reader.ready.popleft()
        if self._reading_paused and len(reader.ready) <= self._limits.ahead:
            self._reading_paused = False
            self._transport.resume_reading()
        if isinstance(request, Refusal):
            self._answer_early(request)
            return
        if not request.keep:
            self.keep = False
        answer = self._answer = Answer(self, request.method, request.version)
        self._asked = request, answer
        if self._task is None:
            task = self._task = self._loop.create_task(self._serve())
            self._family.tasks.add(task)
            task.add_done_callback(self._family.tasks.discard)
        elif self._idle is not None and not self._idle.done():
            self._idle.set_result(None)

    async def _serve(self) -> None:
        """The connection's one task, for all its requests; so they start none of their own."""
        while self._asked is not None:
            request, answer = self._asked
            try:
                await self._handler(request, answer)
                if not answer.ended:
                    log.error("a handler returned without an answer")
                    self._fail(answer)
            except asyncio.CancelledError:
                if not answer.ended:
                    self._transport.abort()
                raise
            except Exception:
                log.exception("a handler failed")
                self._fail(answer)
            finally:
                self._asked = None
                answer.ended = True
            if self._gone or self._transport.is_closing():
                return
            if not self._continue():
                self._idle = self._loop.create_future()
                await self._idle
                self._idle = None

    def _continue(self) -> bool:
        """Go on with what is here; whether that is a request to answer."""
        reader = self._reader
        if reader.ready:
            self._next()
        elif reader.awaits_continue:
            reader.awaits_continue = False
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        return self._asked is not None

    def _fail(self, answer: Answer) -> None:
        if answer.ended:
            return
        if answer.started:
            answer.cut()
            return
        self.keep = False
        headers, body = self._refuse(Refusal(500, "the server failed"))
        answer.send(500, headers, body)

    def _answer_early(self, refusal: Refusal) -> None:
        """Answer before the upload ended, so that the client can read it.

        A close with unread bytes would send a reset, which threw the answer away 50 times out
        of 50. So: answer, close our side, drain for a moment, close.
        """
        self.keep = False
        self._deaf = True
        headers, body = self._refuse(refusal)
        answer = Answer(self, refusal.method, "1.1")
        answer.send(refusal.status, headers, body)
        if self._transport.can_write_eof():
            self._transport.write_eof()
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(self._limits.linger, self._transport.abort)

    def _leave(self) -> None:
        if self._task is not None and not self._task.done():
            self._reader.over = True
            self._reader.ready.clear()
            self._task.cancel()

    def _watch(self) -> None:
        """See that the request which has begun comes in its time."""
        self._began = self._reader.complete, self._loop.time()
        self._slow = self._loop.call_later(self._reader.time, self._check_slow)

    def _check_slow(self) -> None:
        reader = self._reader
        number, since = self._began
        self._slow = None
        if reader.over or reader.between:
            return
        if number != reader.complete or self._reading_paused or reader.awaits_continue:
            self._watch()  # another one, or the wait is ours
            return
        rest = since + reader.time - self._loop.time()
        if rest > 1e-6:  # less is rounding: a timer of no time at all would spin
            self._slow = self._loop.call_later(rest, self._check_slow)
            return
        reader.give_up()
        if self._asked is None:
            self._next()

    def _check_idle(self) -> None:
        now = self._loop.time()
        rest = self._moved + self._limits.idle - now
        if self._asked is None and rest <= 0:
            self._timer = None
            if self._transport.is_closing():
                self._transport.abort()  # closed long ago, and the client takes nothing
            else:
                self._transport.close()
                self._timer = self._loop.call_later(self._limits.linger, self._transport.abort)
            return
        self._timer = self._loop.call_later(max(rest, 0.001) if rest > 0 else self._limits.idle,
                                            self._check_idle)  # fmt: skip
