"""`crashes`: the engine dies in the middle of an answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.clock import ns
from staticfire.engine.actions import Action, Close, Die, Send
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault
from staticfire.engine.faults.truncates import Truncates
from staticfire.errors import WrongInput

__all__ = ["Crashes"]


@fault("crashes")
@dataclass(frozen=True, slots=True)
class Crashes:
    """The process dies after `events` of this answer: every connection ends, connects are refused.

    Without `events` it dies before the first byte; an answer that is no stream dies half-way through
    its body. By FIN, as the kernel closes a dead process's sockets, or by RST with `reset`. With
    `back` a new life serves so many seconds later, on the same port and without memory.
    """

    events: int | None = None
    reset: bool = False
    back: float | None = None

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        f"crashes {when}{{what}}{by}{back}": {"reset": True} if by else {}
        for when in ("in ", "after {events:d} event of ", "after {events:d} events of ")
        for by in ("", " with a reset")
        for back in ("", ", back after {back:duration}")
    }

    def __post_init__(self) -> None:
        if (self.events or 0) < 0 or (self.back or 0) < 0:
            raise WrongInput(
                "crashes", expected="no events or more, no seconds or more", found=repr(self)
            )

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        dies = Die(self.reset, None if self.back is None else ns(self.back))
        if self.events is not None:
            for action in Truncates(events=self.events).play(_halved(honest), ask):
                if isinstance(action, Close):
                    break
                yield action
        yield dies


def _halved(honest: Iterator[Action]) -> Iterator[Action]:
    """The honest answer; one that is no stream ends in the middle of its body, with a close."""
    for action in honest:
        if isinstance(action, Send) and not action.event:
            yield action._replace(data=action.data[: len(action.data) // 2])
            yield Close()
            return
        yield action
