"""`honest`: no fault; what a phase does where nothing else is scripted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.engine.actions import Action
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault

__all__ = ["Honest"]


@fault("honest")
@dataclass(frozen=True, slots=True)
class Honest:
    """The honest answer, unchanged; as a rule it lifts a misbehaviour of the phase."""

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {"answers {what} honestly": {}}

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        del ask
        return honest
