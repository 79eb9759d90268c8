"""`resets`: the request is read, then the connection ends by RST."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.engine.actions import Action, Close
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault

__all__ = ["Resets"]


@fault("resets")
@dataclass(frozen=True, slots=True)
class Resets:
    """Ends the connection by RST without one byte of an answer."""

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {"resets {what}": {}}

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        del honest, ask
        yield Close(reset=True)
