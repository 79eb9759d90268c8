"""`sends comments`: comment lines between the events of a stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.clock import ns
from staticfire.engine.actions import Action, Head, HoldOpen, Send, Wait, streams
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault
from staticfire.errors import WrongInput

__all__ = ["SendsComments"]


@fault("sends comments")
@dataclass(frozen=True, slots=True)
class SendsComments:
    """Sends the comment `:text` each `every` seconds of a stream's silence, or before each event.

    llama.cpp sends an empty one every 30 s, also after it was told to stop and for ever (captured);
    others send `: ping`. While a stream is held open in silence the comments go on without end.
    Clients skip them, and a deadline for the next byte never passes. An answer that is no stream is
    honest.
    """

    every: float | None = None
    text: str = ""

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "sends a comment before each event of {what}": {},
        "sends a comment every {every:duration} in {what}": {},
    }

    def __post_init__(self) -> None:
        if (self.every is not None and self.every <= 0) or not (self.text + "x").isprintable():
            raise WrongInput(
                "sends comments",
                expected="time between them, and one line of text",
                found=f"every={self.every}, text={self.text!r}",
                do="every=30.0, for example",
            )

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        del ask
        comment = Send(f":{self.text}\n\n".encode())
        silence = None if self.every is None else ns(self.every)
        streaming = False
        for action in honest:
            streaming = streaming or (isinstance(action, Head) and streams(action))
            if not streaming:
                yield action
            elif isinstance(action, Send) and silence is None and action.event:
                yield comment
                yield action
            elif isinstance(action, Wait) and silence is not None:
                for _ in range((action.ns - 1) // silence):
                    yield Wait(silence)
                    yield comment
                yield Wait(action.ns - (action.ns - 1) // silence * silence)
            elif isinstance(action, HoldOpen) and silence is not None:
                while True:
                    yield Wait(silence)
                    yield comment
            else:
                yield action
