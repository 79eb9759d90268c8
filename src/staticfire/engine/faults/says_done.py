"""`says [DONE]`: the end mark of a stream, too early or too often."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.engine.actions import Action, Finish, Send
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault
from staticfire.errors import WrongInput

__all__ = ["SaysDone"]

DONE = Send(b"data: [DONE]\n\n", event=True)


@fault("says [DONE]")
@dataclass(frozen=True, slots=True)
class SaysDone:
    """Says `data: [DONE]` after `after` events and ends the stream there, or `times` at its end.

    After no event nothing else comes. After some there is no finish reason: that is what vLLM sends
    when it is stopped in mid-stream (capture `vllm-overload-sleep-drain`). Twice is a mistake that
    it made (public case B146). An answer that is no stream is honest.
    """

    after: int | None = 0
    times: int = 1

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "says only [DONE] in {what}": {"after": 0},
        "says [DONE] after {after:d} event of {what}": {},
        "says [DONE] after {after:d} events of {what}": {},
        "says [DONE] twice in {what}": {"after": None, "times": 2},
    }

    def __post_init__(self) -> None:
        if self.times < 1 or (self.after is not None and self.after < 0):
            raise WrongInput(
                "says [DONE]",
                expected="at least one time, after no event or more",
                found=f"after={self.after}, times={self.times}",
                do="`omits [DONE]` leaves it out",
            )

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        del ask
        left, streaming = self.after, False
        for action in honest:
            streaming = streaming or (isinstance(action, Send) and action.event)
            if isinstance(action, Finish) and streaming:  # of an engine that never says it
                yield from (DONE,) * self.times
            if isinstance(action, Send) and action.event:
                if left == 0 or b"[DONE]" in action.data:
                    yield from (DONE,) * self.times
                    yield Finish("abort" if left is not None else "stop")
                    return
                if left is not None:
                    left -= 1
            yield action
