"""`loses its scheduler`: every answer hangs for ever while health and listing say that all is well."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.engine.actions import Action, Close, HoldOpen, LoseScheduler
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault
from staticfire.engine.faults.truncates import Truncates

__all__ = ["LosesItsScheduler"]


@fault("loses its scheduler")
@dataclass(frozen=True, slots=True)
class LosesItsScheduler:
    """After `events` of this answer nothing that the model makes moves any more, until a restart.

    This answer, every other that is going on and all that come later stay open in silence; health,
    listing and metrics are answered as ever. Without `events` this answer does not begin.
    """

    events: int = 0

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "loses its scheduler in {what}": {},
        "loses its scheduler after {events:d} event of {what}": {},
        "loses its scheduler after {events:d} events of {what}": {},
    }

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        if self.events:
            for action in Truncates(events=self.events).play(honest, ask):
                if isinstance(action, Close):
                    break
                yield action
        yield LoseScheduler()
        yield HoldOpen()
