"""`stalls`: the answer stops in the middle, and the connection stays open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.engine.actions import Action, Close, HoldOpen
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault
from staticfire.engine.faults.truncates import Truncates
from staticfire.errors import WrongInput

__all__ = ["Stalls"]


@fault("stalls")
@dataclass(frozen=True, slots=True)
class Stalls:
    """Falls silent after `bytes` body bytes or `events`, exactly one of them, and holds open.

    No error and no end: only a deadline for the next byte ends it (public case B049). An answer
    with fewer events stays whole.
    """

    bytes: int | None = None
    events: int | None = None

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "stalls {what} after {bytes:d} byte": {},
        "stalls {what} after {bytes:d} bytes": {},
        "stalls {what} after {events:d} event": {},
        "stalls {what} after {events:d} events": {},
    }

    def __post_init__(self) -> None:
        if (self.bytes is None) == (self.events is None):
            raise WrongInput(
                "stalls",
                expected="one of bytes, events",
                found="none of them" if self.bytes is None else "bytes and events",
                do="events=3, for example",
            )

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        for action in Truncates(bytes=self.bytes, events=self.events).play(honest, ask):
            yield HoldOpen() if isinstance(action, Close) else action
