"""The words in which an answer is written: what a mock engine does on the wire, step by step.

An honest answer is an iterator of actions; a fault turns it into another iterator of actions; the
player performs them. Nothing here does I/O, so an answer can be read in a test as a list:

    Head → Send … → Finish                     a JSON answer
    Admit → Head → Wait → Send → … → Finish    a paced stream

Times are integer nanoseconds.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = [
    "CHUNKED",
    "CLOSE",
    "LENGTH",
    "UNFRAMED",
    "Action",
    "Admit",
    "Asleep",
    "Close",
    "CutAfter",
    "CutAt",
    "Finish",
    "Head",
    "Headers",
    "HoldOpen",
    "KeepOpen",
    "Pace",
    "Raw",
    "Send",
    "Wait",
    "header",
    "without",
]

LENGTH, CHUNKED, CLOSE, UNFRAMED = "length", "chunked", "close", "none"
"""How a head says where its body ends: a Content-Length among the headers, chunks, the
connection's end, or not at all (as `CLOSE`, and nobody closes)."""

Headers = tuple[tuple[bytes, bytes], ...]


class Head(NamedTuple):
    """The answer's head; `headers` are sent as they stand, with the personality's own case."""

    status: int
    headers: Headers
    framing: str = LENGTH
    reason: bytes | None = None


class Send(NamedTuple):
    """Body bytes before chunking; one `Send` is one chunk. `event` marks one SSE event."""

    data: bytes
    event: bool = False
    tokens: int = 0


class Wait(NamedTuple):
    """Let time pass; what was sent before is on the wire by then."""

    ns: int


class Admit(NamedTuple):
    """Wait for a slot of the engine's capacity; the slot is freed at the answer's end."""

    prompt_tokens: int = 0


class Asleep(NamedTuple):
    """Wait until the engine is awake; no wait when it is."""


class Finish(NamedTuple):
    """The answer is complete: its framing is ended. `reason` is the model's finish reason."""

    reason: str | None = None


class Close(NamedTuple):
    """End the connection now, by FIN (lingering, so that no unread upload makes it an RST) or RST."""

    reset: bool = False


class HoldOpen(NamedTuple):
    """Nothing more happens on this connection; it stays open until the client leaves."""


class KeepOpen(NamedTuple):
    """The tap swallows every later close of this connection, whoever asks for it."""


class Raw(NamedTuple):
    """Bytes for the wire exactly as they stand, without framing."""

    data: bytes


class Pace(NamedTuple):
    """The tap's order: `bytes` at a time each `every` ns, for the `head`, the `body` or `both`."""

    bytes: int
    every: int
    part: str = "both"


class CutAt(NamedTuple):
    """The tap's order: end the connection once this answer has put `wire` bytes on the wire."""

    wire: int
    reset: bool = False


class CutAfter(NamedTuple):
    """The tap's order: end the connection `ns` from now, wherever the answer is then."""

    ns: int
    reset: bool = False


Action = (
    Head
    | Send
    | Wait
    | Admit
    | Asleep
    | Finish
    | Close
    | HoldOpen
    | KeepOpen
    | Raw
    | Pace
    | CutAt
    | CutAfter
)


def header(headers: Headers, name: bytes) -> bytes | None:
    """The first value of a header, by lower-case name."""
    return next((value for key, value in headers if key.lower() == name), None)


def without(headers: Headers, *names: bytes) -> Headers:
    """The headers less those with these lower-case names."""
    return tuple(pair for pair in headers if pair[0].lower() not in names)
