"""`splits the body`: borders between pieces where no parser expects them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.engine.actions import Action, Send, Wait
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault
from staticfire.errors import WrongInput

__all__ = ["SplitsTheBody"]


@fault("splits the body")
@dataclass(frozen=True, slots=True)
class SplitsTheBody:
    """Sends the honest body in pieces of `bytes` bytes, each a write of its own and a chunk.

    One byte at a time cuts every letter of UTF-8, every CR from its LF and every event at every
    place there is (public case B116). No time passes between the pieces, but for a nanosecond each.
    """

    bytes: int = 1

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "sends the body of {what} in pieces of {bytes:d} byte": {},
        "sends the body of {what} in pieces of {bytes:d} bytes": {},
    }

    def __post_init__(self) -> None:
        if self.bytes < 1:
            raise WrongInput("splits the body: bytes", expected="at least 1", found=str(self.bytes))

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        del ask
        for action in honest:
            if not isinstance(action, Send):
                yield action
                continue
            yield action._replace(data=action.data[: self.bytes], joins=False)
            for start in range(self.bytes, len(action.data), self.bytes):
                yield Wait(1)
                yield Send(action.data[start : start + self.bytes])
            yield Wait(1)
