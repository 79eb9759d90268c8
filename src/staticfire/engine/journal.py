"""What a mock engine saw: connections, requests, bytes, who closed and when."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from staticfire.clock import NS

__all__ = ["Entry", "Journal", "Request", "Row"]

SESSION_HEADERS = ("x-session-id", "x-user-id")


class Row(NamedTuple):
    """One thing that happened, `at` ns; `connection` is 0 for what the engine did as a whole.

    `what` is one of: starts, listens, phase, dies, stops, connects, in, request, answers, out,
    client half-closes, done, closes, resets, client left.
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
    hold it open in silence), `client left`, `killed` (the engine died), `failed` (a handler or a
    fault of the user raised) or `open` (still going).
    `fault` is the fault that played, or None. Times are ns.
    """

    number: int
    connection: int
    at: int
    method: str
    path: str
    status: int | None
    headers: Mapping[str, str]
    body: bytes
    session: str | None
    stream: bool
    model: str | None
    fault: str | None
    phase: str
    generation: int
    tokens: int
    answered_at: int | None
    ended_at: int | None
    ended: str

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class Entry:
    """A request while its answer is going on; the journal turns it into a `Request`."""

    __slots__ = (
        "answered_at", "at", "body", "connection", "ended", "ended_at", "fault", "generation",
        "headers", "method", "number", "path", "phase", "status", "tokens",
    )  # fmt: skip

    def __init__(
        self,
        number: int,
        connection: int,
        at: int,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes,
    ) -> None:
        self.number, self.connection, self.at = number, connection, at
        self.method, self.path, self.headers, self.body = method, path, headers, body
        self.status: int | None = None
        self.fault: str | None = None
        self.phase = ""
        self.generation = 0
        self.tokens = 0
        self.answered_at: int | None = None
        self.ended_at: int | None = None
        self.ended = "open"

    def end(self, how: str, now: int) -> None:
        """Keep the first cause of the answer's end; a later one tells of `held` only."""
        if self.ended in ("open", "held"):
            self.ended, self.ended_at = how, now

    def frozen(self) -> Request:
        fields = _body_fields(self.body)
        session = next(
            (self.headers[name] for name in SESSION_HEADERS if name in self.headers), None
        )
        user, model = fields.get("user"), fields.get("model")
        return Request(
            number=self.number,
            connection=self.connection,
            at=self.at,
            method=self.method,
            path=self.path,
            status=self.status,
            headers=self.headers,
            body=self.body,
            session=session or (user if isinstance(user, str) else None),
            stream=fields.get("stream") is True,
            model=model if isinstance(model, str) else None,
            fault=self.fault,
            phase=self.phase,
            generation=self.generation,
            tokens=self.tokens,
            answered_at=self.answered_at,
            ended_at=self.ended_at,
            ended=self.ended,
        )


def _body_fields(body: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(body) if body else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


class Journal:
    """Rows in the order in which they happened, and the requests among them."""

    __slots__ = ("entries", "rows", "started")

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.entries: list[Entry] = []
        self.started = 0

    def note(self, at: int, connection: int, what: str, size: int = 0, note: str = "") -> None:
        """Append a row."""
        self.rows.append(Row(at, len(self.rows), connection, what, size, note))

    def requests(self, on: str | None = None) -> tuple[Request, ...]:
        """The requests so far in order of arrival, all or those of one `METHOD /path`."""
        return tuple(
            entry.frozen()
            for entry in self.entries
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
