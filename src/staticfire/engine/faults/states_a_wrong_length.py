"""`states a wrong length`: a Content-Length that the body does not keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.engine.actions import CHUNKED, LENGTH, Action, Head, Send, header, without
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault, one_of

__all__ = ["StatesAWrongLength"]

LENGTHS = ("too short", "too long", "negative", "no number", "two", "beside chunks")
ENDLESS = 1 << 30
"""More bytes than any stream of a test has."""


@fault("states a wrong length")
@dataclass(frozen=True, slots=True)
class StatesAWrongLength:
    """States a Content-Length that is wrong, and sends the whole honest body after it.

    `length` is `too short` (half the body; in a stream its first event, public case B107), `too
    long` (twice the body; the missing bytes never come, and the engine closes when it has been idle
    for its usual time), `negative`, `no number`, `two` (two fields that differ), or `beside chunks`:
    5 beside a body in chunks (B106). A stream is not chunked, but for the last.
    """

    length: str = "too long"

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "states too short a length for {what}": {"length": "too short"},
        "states too long a length for {what}": {"length": "too long"},
        "states a negative length for {what}": {"length": "negative"},
        "states a length that is no number for {what}": {"length": "no number"},
        "states two lengths for {what}": {"length": "two"},
        "states a length beside chunks for {what}": {"length": "beside chunks"},
    }

    def __post_init__(self) -> None:
        one_of("states a wrong length", "length", self.length, LENGTHS)

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        del ask
        waiting: Head | None = None  # a stream's head, until its first event can be measured
        for action in honest:
            if isinstance(action, Head):
                own = header(action.headers, b"content-length")
                if own is None and self.length == "too short":
                    waiting = action
                else:
                    yield self._stating(action, ENDLESS if own is None else int(own))
            elif isinstance(action, Send) and waiting is not None:
                yield self._stating(waiting, len(action.data) * 2)
                yield action
                waiting = None
            else:
                yield action

    def _stating(self, head: Head, size: int) -> Head:
        """The head with this fault's length, of a body that has `size` bytes."""
        texts: dict[str, tuple[int | str, ...]] = {
            "too short": (size // 2,),
            "too long": (size * 2,),
            "negative": (-1,),
            "no number": ("all of it",),
            "two": (size, size + 1),
            "beside chunks": (5,),
        }
        lengths = tuple((b"content-length", str(text).encode()) for text in texts[self.length])
        framing = CHUNKED if self.length == "beside chunks" else LENGTH
        kept = without(head.headers, b"content-length")
        return head._replace(headers=(*kept, *lengths), framing=framing)
