"""`dribbles`: a few bytes at a time, with pauses between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.clock import ns
from staticfire.engine.actions import (
    CHUNKED,
    Action,
    Finish,
    Head,
    Pace,
    Raw,
    Send,
    Wait,
    header,
    without,
)
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault
from staticfire.errors import WrongInput, did_you_mean

__all__ = ["Dribbles"]

PARTS = ("both", "head", "body")


@fault("dribbles")
@dataclass(frozen=True, slots=True)
class Dribbles:
    """Puts `bytes` bytes on the wire each `every` seconds: of the head, the body, or both.

    `endless` never comes to an end: a body goes on with white space or SSE comments for ever (it is
    chunked for that, whatever the honest framing), a head with more header fields.
    """

    bytes: int = 1
    every: float = 1.0
    part: str = "both"
    endless: bool = False

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        f"dribbles {part}{{what}}{amount}{end}": {
            **({"part": part.split()[1]} if part else {}),
            **({"endless": True} if end else {}),
        }
        for part in ("", "the head of ", "the body of ")
        for amount in (
            "",
            " {bytes:d} byte every {every:duration}",
            " {bytes:d} bytes every {every:duration}",
        )
        for end in ("", " without end")
    }

    def __post_init__(self) -> None:
        if self.part not in PARTS:
            raise WrongInput(
                "dribbles: part",
                expected=f"one of {', '.join(PARTS)}",
                found=repr(self.part),
                do=did_you_mean(str(self.part), PARTS),
            )
        if self.bytes < 1 or self.every <= 0:
            raise WrongInput(
                "dribbles",
                expected="at least one byte each time, and time between them",
                found=f"bytes={self.bytes}, every={self.every:g}",
                do="bytes=1, every=1.0, for example",
            )

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        del ask
        yield Pace(self.bytes, ns(self.every), self.part)
        if not self.endless:
            yield from honest
            return
        filler = b" "
        for action in honest:
            if isinstance(action, Head):
                if self.part == "head":
                    yield from self._endless_head(action)
                kind = header(action.headers, b"content-type") or b""
                filler = b": \n\n" if kind.startswith(b"text/event-stream") else b" "
                kept = without(action.headers, b"content-length")
                yield action._replace(headers=kept, framing=CHUNKED)
            elif isinstance(action, Finish):
                while True:
                    yield Send(filler)
                    yield Wait(ns(self.every))
            elif isinstance(action, Send) and filler != b" " and b"[DONE]" in action.data:
                continue  # a client may stop reading there; this stream has no end
            else:
                yield action

    def _endless_head(self, head: Head) -> Iterator[Action]:
        yield Raw(b"HTTP/1.1 %d OK\r\n" % head.status)
        for name, value in head.headers:
            yield Raw(b"%s: %s\r\n" % (name, value))
        while True:
            yield Raw(b"x-more: 1\r\n")
            yield Wait(ns(self.every))
