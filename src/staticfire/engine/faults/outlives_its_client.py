"""`outlives its client`: generation goes on after the client has left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.engine.actions import Action, Outlive
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault

__all__ = ["OutlivesItsClient"]


@fault("outlives its client")
@dataclass(frozen=True, slots=True)
class OutlivesItsClient:
    """Makes the whole honest answer although its client leaves: the slot stays taken to the end.

    llama.cpp does that with an answer that is no stream (captured: 15 s for a client that left after
    0.3 s; public case B047). The journal's request says how many tokens came after the client left.
    An abort ends it, see `takes aborts`.
    """

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "goes on with {what} after its client left": {},
    }

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        del ask
        yield Outlive()
        yield from honest
