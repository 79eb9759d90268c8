"""A stream of server-sent events, split wherever the bytes were cut."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Event", "Splitter"]

_LIMIT = 1 << 20


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its name (empty for the default one) and its data lines joined by LF."""

    name: bytes
    data: bytes


class Splitter:
    """Feed it bytes as they come; it returns the events that they complete.

    Lines end by LF, CR or CRLF, and a cut may fall anywhere, between CR and LF too (WHATWG HTML
    9.2.6). An `error` field, which the standard does not know and older llama.cpp sends, is an event
    of that name. A line longer than `limit` bytes is dropped: whoever judges a stream must not be made
    to hold it.
    """

    __slots__ = ("_after_cr", "_data", "_dropping", "_held", "_limit", "_name", "_start", "_tail")

    def __init__(self, limit: int = _LIMIT) -> None:
        self._limit = limit
        self._tail = b""
        self._after_cr = False
        self._start = True
        self._dropping = False
        self._name = b""
        self._data: list[bytes] = []
        self._held = 0

    @property
    def clean(self) -> bool:
        """True between two events, when nothing of a next one is held."""
        return not (self._tail or self._data or self._name or self._after_cr or self._dropping)

    def feed(self, data: bytes) -> list[Event]:
        """The events completed by `data`."""
        if self._after_cr and data:
            self._after_cr = False
            if data[0] == 10:
                data = data[1:]
        if b"\r" in data:
            self._after_cr = data.endswith(b"\r")
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines = (self._tail + data).split(b"\n")
        self._tail = lines.pop()
        if self._dropping and lines:
            lines.pop(0)
            self._dropping = False
        if len(self._tail) > self._limit:
            self._tail = b""
            self._dropping = True
        if not lines:
            return []
        if self._start:
            self._start = False
            lines[0] = lines[0].removeprefix(b"\xef\xbb\xbf")
        events: list[Event] = []
        for line in lines:
            if not line:
                if self._data:
                    events.append(Event(self._name, b"\n".join(self._data)))
                self._name, self._data, self._held = b"", [], 0
            elif line.startswith(b"data:"):
                self._held += len(line)
                if self._held <= self._limit:
                    self._data.append(line[6:] if line[5:6] == b" " else line[5:])
            elif line.startswith(b"event:"):
                self._name = line[7:] if line[6:7] == b" " else line[6:]
            elif line.startswith(b"error:"):
                events.append(Event(b"error", line[6:].strip()))
        return events

    def flush(self) -> list[Event]:
        """The event that the end of the stream left without its empty line, if any.

        The standard drops it; engines that close after an error forget the line, and the error
        counts all the same.
        """
        return self.feed(b"\n\n")
