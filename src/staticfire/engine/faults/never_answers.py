"""`never answers`: the request is read and nothing ever comes back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.engine.actions import Action, HoldOpen
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault

__all__ = ["NeverAnswers"]


@fault("never answers")
@dataclass(frozen=True, slots=True)
class NeverAnswers:
    """Reads the request; the connection stays open and silent until the client leaves."""

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {"never answers {what}": {}}

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        del honest, ask
        yield HoldOpen()
