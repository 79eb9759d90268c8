"""`omits the last chunk`: a chunked answer that ends before it says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.engine.actions import Action, Close, Finish
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault
from staticfire.engine.faults.reframing import chunked

__all__ = ["OmitsTheLastChunk"]


@fault("omits the last chunk")
@dataclass(frozen=True, slots=True)
class OmitsTheLastChunk:
    """Sends every byte of the answer in chunks, then ends the connection in place of the last one.

    After `answers without closing` the connection stays open instead.
    """

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "ends {what} without the last chunk": {},
    }

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        del ask
        for action in chunked(honest):
            yield Close() if isinstance(action, Finish) else action
