"""The words in which an answer is written: what a mock engine does on the wire, step by step.

An honest answer is an iterator of actions; a fault turns it into another iterator of actions; the
player performs them. Nothing here does I/O, so an answer can be read in a test as a list:

    Head → Send … → Finish                     a JSON answer
    Admit → Head → Wait → Send → … → Finish    a paced stream

Times are integer nanoseconds.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import NamedTuple

__all__ = [
    "CHUNKED",
    "CLOSE",
    "LENGTH",
    "UNFRAMED",
    "Abort",
    "Action",
    "Admit",
    "Afterwards",
    "Asleep",
    "Close",
    "CutAfter",
    "CutAt",
    "Die",
    "Finish",
    "Grow",
    "Head",
    "Headers",
    "HoldOpen",
    "KeepOpen",
    "LoseScheduler",
    "Outlive",
    "Pace",
    "Raw",
    "Send",
    "Terminated",
    "Unchunk",
    "Wait",
    "header",
    "last_words",
    "streams",
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
    line: bytes | None = None
    """What stands in place of the whole status line."""


class Send(NamedTuple):
    """Body bytes before chunking; one `Send` is one chunk. `event` marks one SSE event.

    With `joins` it shares its chunk with the next one.
    """

    data: bytes
    event: bool = False
    tokens: int = 0
    joins: bool = False


class Wait(NamedTuple):
    """Let time pass; what was sent before is on the wire by then."""

    ns: int


class Admit(NamedTuple):
    """Wait for a slot of the engine's capacity and until the prompt is computed.

    The slot is freed at the answer's end. `text` is the prompt where KV blocks are simulated, so
    that equal beginnings are found again.
    """

    prompt_tokens: int = 0
    text: str = ""


class Grow(NamedTuple):
    """The model has made so many more tokens: wait for the KV blocks that they need."""

    tokens: int


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


class Unchunk(NamedTuple):
    """From here on nothing of this answer is chunked, its end neither."""


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


class Afterwards(NamedTuple):
    """The tap's order for this connection: what becomes of it once an answer is whole.

    `closes` it after `ns` of idleness, whatever the engine's own idle time is; `closes next` and
    `resets next` end it when the next request comes; `silent` leaves that request unanswered.
    """

    how: str
    ns: int = 0


class Die(NamedTuple):
    """The engine's process is gone, with every connection; it comes up again after `back` ns."""

    reset: bool = False
    back: int | None = None


class LoseScheduler(NamedTuple):
    """No answer of this engine moves on any more, and no new one begins; the rest works."""


class Outlive(NamedTuple):
    """From here on the answer is made to its end, whether or not its client is still there."""


class Abort(NamedTuple):
    """End the answers to the requests with this id, or all of them, wherever they are."""

    id: str | None = None


Action = (
    Head
    | Send
    | Wait
    | Admit
    | Grow
    | Asleep
    | Finish
    | Close
    | HoldOpen
    | KeepOpen
    | Raw
    | Pace
    | CutAt
    | CutAfter
    | Unchunk
    | Afterwards
    | Die
    | LoseScheduler
    | Outlive
    | Abort
)


class Terminated(Exception):
    """Thrown into an honest answer when the engine is to end: it may say last words.

    `after` is how many ns ago the prompt was computed, negative before that.
    """

    def __init__(self, after: int) -> None:
        super().__init__()
        self.after = after


def header(headers: Headers, name: bytes) -> bytes | None:
    """The first value of a header, by lower-case name."""
    return next((value for key, value in headers if key.lower() == name), None)


def without(headers: Headers, *names: bytes) -> Headers:
    """The headers less those with these lower-case names."""
    return tuple(pair for pair in headers if pair[0].lower() not in names)


def streams(head: Head) -> bool:
    """Whether an answer with this head is a stream of server-sent events."""
    return (header(head.headers, b"content-type") or b"").startswith(b"text/event-stream")


def last_words(actions: Iterator[Action], why: Terminated) -> Iterator[Action]:
    """What an answer still says when it is told to end; nothing, if it was not made for that."""
    if not isinstance(actions, Generator):
        return
    try:
        action = actions.throw(why)
    except (Terminated, StopIteration):
        return
    yield action
    yield from actions
