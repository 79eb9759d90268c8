"""One answer as it arrived: its bytes, its times, its end."""

from __future__ import annotations

import enum
import json
from dataclasses import dataclass
from typing import Any

from staticfire.clock import seconds

__all__ = ["Answer", "End"]


class End(enum.StrEnum):
    """How an answer ended, in the words of the steps."""

    WHOLE = "whole"
    """As its framing said: length reached, last chunk, or the close where nothing else ends it."""
    CUT = "cut"
    """Closed before its framing said so."""
    RESET = "reset"
    """The connection was reset (RST), with or without bytes of an answer."""
    CLOSED = "closed without answering"
    """Closed in order before the first byte of an answer."""
    REFUSED = "refused"
    """Nobody listens: the connect was refused."""
    SILENT = "silent"
    """The deadline passed without a byte of an answer."""
    UNFINISHED = "unfinished"
    """The deadline passed in the middle of an answer."""
    MALFORMED = "malformed"
    """Not HTTP, in the strict reading of h11."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one request got.

    Times are nanoseconds of the scenario's clock. `head` is raw, also where it is no head. `pieces` are the body's bytes as they came:
    when, how many. `notes` tell what is against the rules although h11 reads it.
    """

    end: End
    detail: str = ""
    status: int | None = None
    head: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    pieces: tuple[tuple[int, int], ...] = ()
    notes: tuple[str, ...] = ()
    interim: tuple[int, ...] = ()
    """Statuses of interim answers (1xx) that came before it."""
    trailers: tuple[tuple[str, str], ...] = ()
    """Fields after the last chunk."""
    asked_at: int = 0
    head_at: int | None = None
    ended_at: int = 0
    closed: bool = False
    """Whether the server had closed the connection when the answer ended."""

    def header(self, name: str) -> str | None:
        """The first value of a header, by name in any case; None without it."""
        return next((v for n, v in self.headers if n.lower() == name.lower()), None)

    @property
    def took(self) -> float:
        """Seconds from the request to the end."""
        return seconds(self.ended_at - self.asked_at)

    @property
    def ok(self) -> bool:
        """A whole answer with status 200, and without an error in it."""
        return self.end is End.WHOLE and self.status == 200 and self.error is None

    @property
    def streamed(self) -> bool:
        """Whether it came as server-sent events."""
        return (self.header("content-type") or "").startswith("text/event-stream")

    @property
    def events(self) -> tuple[str, ...]:
        """The data of each complete server-sent event (WHATWG HTML, 9.2.6)."""
        text = self.body.decode("utf-8", "replace").removeprefix("\ufeff")
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        *complete, _ = text.split("\n\n")
        datas = []
        for block in complete:
            data = [_value(line) for line in block.split("\n") if line.partition(":")[0] == "data"]
            if data:
                datas.append("\n".join(data))
        return tuple(datas)

    @property
    def comments(self) -> int:
        """How many comment lines its stream has."""
        return sum(line.startswith(b":") for line in self.body.splitlines())

    @property
    def done(self) -> bool:
        """Whether the stream's last event is `[DONE]`."""
        return self.events[-1:] == ("[DONE]",)

    def json(self) -> Any:
        """The body as JSON. Raises ValueError."""
        return json.loads(self.body)

    @property
    def utf8(self) -> bool:
        """Whether the body is UTF-8."""
        try:
            self.body.decode()
        except UnicodeDecodeError:
            return False
        return True

    @property
    def objects(self) -> list[dict[str, Any]]:
        """The JSON objects in it: the body, or each event's."""
        texts = [e for e in self.events if e != "[DONE]"] if self.streamed else [self.body]
        found = []
        for text in texts:
            try:
                value = json.loads(text)
            except ValueError:
                continue
            if isinstance(value, dict):
                found.append(value)
        return found

    @property
    def error(self) -> dict[str, Any] | None:
        """The error object in it, of a body or of an event."""
        for value in self.objects:
            error = value.get("error")
            if error is not None:
                return error if isinstance(error, dict) else {"message": error}
            if value.get("object") == "error":
                return value
        return None

    @property
    def text(self) -> str:
        """The model's words: message contents, deltas or completion texts joined."""
        words = []
        for value in self.objects:
            for choice in value.get("choices") or []:
                part = choice.get("message") or choice.get("delta") or choice
                words.append(part.get("content") or part.get("text") or "")
        return "".join(words)

    def __str__(self) -> str:
        what = f"{self.status} " if self.status else ""
        shown = self.body[:120].decode("utf-8", "replace") + ("…" if len(self.body) > 120 else "")
        tail = f" ({self.detail})" if self.detail else ""
        return f"{what}{self.end}{tail} after {self.took:g} s, {len(self.body)} bytes: {shown!r}"


def _value(line: str) -> str:
    """The value of an SSE line `field: value`, one leading space removed."""
    return line.partition(":")[2].removeprefix(" ")
