"""What a mock engine saw: connections, requests, bytes, who closed and when."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple

from multidict import CIMultiDict, CIMultiDictProxy

from staticfire.clock import NS

__all__ = ["Entry", "Journal", "Request", "Row"]

SESSION_HEADERS = ("x-session-id", "x-user-id")


class Row(NamedTuple):
    """One thing that happened, `at` ns; `connection` is 0 for what the engine did as a whole.

    `what` is one of: starts, listens, phase, dies, stops, connects, in, request, answers, out,
    client half-closes, done, closes, resets, client left, aborts, loses its scheduler.
    """

    at: int
    seq: int
    connection: int
    what: str
    size: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """One request and how its answer ended.

    `ended` is `whole`, `cut` (we ended the connection too early), `reset` (we, by RST), `held` (we
    hold it open in silence), `client left`, `killed` (the engine died), `aborted` (on
    request), `failed` (a handler or a fault of the user raised) or `open` (still going).
    `retry_after` is that header of an answer of 429 or 503. `fault` is the fault that played, or
    None. Times are ns.
    """

    number: int
    connection: int
    at: int
    method: str
    path: str
    status: int | None
    retry_after: str | None
    headers: Mapping[str, str]
    body: bytes
    session: str | None
    stream: bool
    model: str | None
    fault: str | None
    phase: str
    generation: int
    tokens: int
    tokens_after: int
    answered_at: int | None
    ended_at: int | None
    ended: str

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


RawHeaders = tuple[tuple[bytes, bytes], ...]
Packed = tuple[Any, ...]


class Entry:
    """A request while its answer is going on; the journal turns it into a `Request`."""

    __slots__ = (
        "answered_at", "at", "body", "connection", "ended", "ended_at", "fault", "generation",
        "headers", "method", "number", "path", "phase", "retry_after", "sent",
        "status", "tokens",
    )  # fmt: skip

    def __init__(
        self,
        number: int,
        connection: int,
        at: int,
        method: str,
        path: str,
        headers: RawHeaders,
        body: bytes,
    ) -> None:
        self.number, self.connection, self.at = number, connection, at
        self.method, self.path, self.headers, self.body = method, path, headers, body
        self.status: int | None = None
        self.retry_after: str | None = None
        self.fault: str | None = None
        self.phase = ""
        self.generation = 0
        self.tokens = self.sent = 0
        self.answered_at: int | None = None
        self.ended_at: int | None = None
        self.ended = "open"

    def answer(self, status: int, headers: RawHeaders, now: int) -> None:
        """Its head is on its way."""
        self.status, self.answered_at = status, now
        if status in (429, 503):
            values = (value for name, value in headers if name.lower() == b"retry-after")
            self.retry_after = next((value.decode("latin-1") for value in values), None)

    def end(self, how: str, now: int) -> None:
        """Keep the first cause of the answer's end; a later one tells of `held` only."""
        if self.ended in ("open", "held"):
            self.ended, self.ended_at, self.sent = how, now, self.tokens

    def packed(self) -> Packed:
        """The same as one flat tuple of plain values."""
        return (*_plain(self), *chain.from_iterable(self.headers))  # hot

    @classmethod
    def unpacked(cls, values: Packed) -> Entry:
        """An entry as it was before `packed`."""
        entry = cls.__new__(cls)
        for name, value in zip(_PLAIN, values, strict=False):
            setattr(entry, name, value)
        rest = values[len(_PLAIN) :]
        entry.headers = tuple(zip(rest[::2], rest[1::2], strict=True))
        return entry

    def frozen(self) -> Request:
        fields = _body_fields(self.body)
        headers = CIMultiDictProxy(
            CIMultiDict((_text(name), _text(value)) for name, value in self.headers)
        )
        session = next((headers[name] for name in SESSION_HEADERS if name in headers), None)
        named = (fields.get("session_id"), fields.get("user"))
        model = fields.get("model")
        return Request(
            number=self.number,
            connection=self.connection,
            at=self.at,
            method=self.method,
            path=self.path,
            status=self.status,
            retry_after=self.retry_after,
            headers=headers,
            body=self.body,
            session=session or next((name for name in named if isinstance(name, str)), None),
            stream=fields.get("stream") is True,
            model=model if isinstance(model, str) else None,
            fault=self.fault,
            phase=self.phase,
            generation=self.generation,
            tokens=self.tokens,
            tokens_after=0 if self.ended_at is None else self.tokens - self.sent,
            answered_at=self.answered_at,
            ended_at=self.ended_at,
            ended=self.ended,
        )


_PLAIN = tuple(name for name in Entry.__slots__ if name != "headers")
_plain = attrgetter(*_PLAIN)


def _text(raw: bytes) -> str:
    """As aiohttp reads a header."""
    return raw.decode("utf-8", "surrogateescape")


def _body_fields(body: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(body) if body else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


class Journal:
    """Rows in the order in which they happened, and the requests among them."""

    __slots__ = ("_entries", "_rows", "started")

    def __init__(self) -> None:
        self._rows: list[tuple[int, int, str, int, str]] = []
        self._entries: list[Entry | Packed] = []
        self.started = 0

    def note(self, at: int, connection: int, what: str, size: int = 0, note: str = "") -> None:
        """Append a row."""
        # hot: a plain tuple of plain values is not tracked by the garbage collector
        self._rows.append((at, connection, what, size, note))

    @property
    def length(self) -> int:
        """How many rows there are so far."""
        return len(self._rows)

    @property
    def rows(self) -> list[Row]:
        """Every row so far."""
        return [
            Row(at, seq, connection, what, size, note)
            for seq, (at, connection, what, size, note) in enumerate(self._rows)
        ]

    def open(self, entry: Entry) -> None:
        """Keep a request, whose number is its place."""
        self._entries.append(entry)

    def settle(self, entry: Entry) -> None:
        """Its answer ended whole: nothing changes any more.

        Hot: a flat tuple of plain values is not tracked by the garbage collector, so that a long
        journal costs nothing.
        """
        self._entries[entry.number - 1] = entry.packed()

    def requests(self, on: str | None = None) -> tuple[Request, ...]:
        """The requests so far in order of arrival, all or those of one `METHOD /path`."""
        entries = [
            Entry.unpacked(kept) if isinstance(kept, tuple) else kept for kept in self._entries
        ]
        return tuple(
            entry.frozen()
            for entry in entries
            if on is None or on == f"{entry.method} {entry.path}"
        )

    def told(self, name: str) -> list[tuple[Row, str]]:
        """The rows that tell the story, each with its line; times from the engine's start."""
        story: list[tuple[Row, str]] = []
        for row in self.rows:
            if row.what in ("in", "out", "done"):
                continue
            at = (row.at - self.started) / NS
            who = f" #{row.connection}" if row.connection else ""
            size = f" {row.size} bytes" if row.size else ""
            note = f": {row.note}" if row.note else ""
            story.append((row, f"{at:10.3f} s  {name}{who} {row.what}{size}{note}"))
        return story
