"""What a passing answer says about its worker, watched without touching a byte."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from staticfire.router.outcome import event_status
from staticfire.wire import Event, Head, Splitter

__all__ = ["Silence", "Witness"]

_KEEP = 64 << 10


class Witness:
    """Keeps of an answer's bytes what its outcome will be judged by.

    Of a stream the status of its first error event; of a 5xx a copy of its body, which may
    declare another code. Of everything else nothing.
    """

    __slots__ = ("_body", "_splitter", "dones", "event", "stream", "watching")

    def __init__(self, head: Head) -> None:
        kind = head.header(b"content-type") or b""
        self.stream = head.status < 400 and kind[:17].lower() == b"text/event-stream"
        self.event: int | None = None
        self.dones = 0
        """How often a stream said that it ends; once is right."""
        self._body = b""
        self._splitter = Splitter() if self.stream else None
        self.watching = self._splitter is not None or head.status >= 500

    def see(self, data: bytes) -> None:
        """Body bytes passed by."""
        if self._splitter is not None:
            # Nearly every read is whole events without the word; they need no splitting.
            plain = self._splitter.clean and data[-2:] == b"\n\n" and b"error" not in data
            if self.event is None and not plain:
                self._judge(self._splitter.feed(data))
            if data[-8:-2] == b"[DONE]":
                self.dones += data.count(b"[DONE]\n")
        elif len(self._body) < _KEEP:
            self._body += data

    def body(self) -> bytes:
        """The body of a 5xx, for a code that it declares."""
        return self._body

    def end(self) -> None:
        """The answer ended as its framing said."""
        if self._splitter is not None and self.event is None:
            self._judge(self._splitter.flush())

    def _judge(self, events: list[Event]) -> None:
        for event in events:
            status = event_status(event.name, event.data)
            if status is not None:
                self.event = status
                return


class Silence:
    """Calls back once when nothing has moved for `limit` seconds.

    One timer, set again only when it fires, so that a token costs an assignment.
    """

    __slots__ = ("_callback", "_limit", "_loop", "_timer", "moved")

    def __init__(self, limit: float, callback: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._limit = limit
        self._callback = callback
        self.moved = self._loop.time()
        self._timer = self._loop.call_later(limit, self._check)

    def touch(self) -> None:
        """Something moved."""
        self.moved = self._loop.time()

    def stop(self) -> None:
        """Watch no longer."""
        self._timer.cancel()

    def _check(self) -> None:
        due = self.moved + self._limit
        if due <= self._loop.time() + 1e-6:  # less is rounding, and would spin
            self._callback()
        else:
            self._timer = self._loop.call_at(due, self._check)
