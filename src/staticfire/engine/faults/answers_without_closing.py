"""`answers without closing`: a whole answer on a connection that nobody ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.engine.actions import (
    CHUNKED,
    LENGTH,
    UNFRAMED,
    Action,
    Finish,
    Head,
    HoldOpen,
    KeepOpen,
    Send,
    without,
)
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault
from staticfire.errors import WrongInput, did_you_mean

__all__ = ["AnswersWithoutClosing"]

FRAMINGS = ("honest", "length", "chunked", "none")


@fault("answers without closing")
@dataclass(frozen=True, slots=True)
class AnswersWithoutClosing:
    """Answers whole and keeps the socket open, also when the client asked for a close.

    `framing` says how the answer shows its end: `honest` (as the engine does), `length`, `chunked`,
    or `none`: then nothing on the wire ever says that the answer is whole.
    """

    framing: str = "honest"

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "answers {what} without closing": {},
        "answers {what} without closing, framed by length": {"framing": "length"},
        "answers {what} without closing, framed by chunks": {"framing": "chunked"},
        "answers {what} without closing, unframed": {"framing": "none"},
    }

    def __post_init__(self) -> None:
        if self.framing not in FRAMINGS:
            raise WrongInput(
                "answers without closing: framing",
                expected=f"one of {', '.join(FRAMINGS)}",
                found=repr(self.framing),
                do=did_you_mean(str(self.framing), FRAMINGS),
            )

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        del ask
        yield KeepOpen()
        if self.framing == "honest":
            yield from honest
        elif self.framing == "length":
            yield from _measured(honest)
        else:
            framing = CHUNKED if self.framing == "chunked" else UNFRAMED
            for action in honest:
                if isinstance(action, Head):
                    kept = without(action.headers, b"content-length")
                    yield action._replace(headers=kept, framing=framing)
                else:
                    yield action
        if self.framing == "none":
            yield HoldOpen()


def _measured(honest: Iterator[Action]) -> Iterator[Action]:
    """The answer with a Content-Length; a stream is held back until it can be measured."""
    head: Head | None = None
    body: list[Send] = []
    for action in honest:
        if isinstance(action, Head) and action.framing != LENGTH:
            head = action
        elif isinstance(action, Send) and head is not None:
            body.append(action)
        elif isinstance(action, Finish) and head is not None:
            size = sum(len(send.data) for send in body)
            length = (b"content-length", str(size).encode())
            yield head._replace(headers=(*head.headers, length), framing=LENGTH)
            yield from body
            yield action
        else:
            yield action
