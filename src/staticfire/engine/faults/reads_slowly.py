"""`reads slowly`: the request is taken a few bytes at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.engine.actions import Action
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault
from staticfire.engine.reading import Reading
from staticfire.errors import WrongInput

__all__ = ["ReadsSlowly"]


@fault("reads slowly")
@dataclass(frozen=True, slots=True)
class ReadsSlowly:
    """Reads `bytes` bytes of the request's body each `every` seconds, then answers honestly.

    What is not read stays in the buffers of the kernel, and then with the client, whose upload
    stands still.
    """

    bytes: int = 1024
    every: float = 1.0

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "reads {what} {bytes:d} byte every {every:duration}": {},
        "reads {what} {bytes:d} bytes every {every:duration}": {},
    }

    def __post_init__(self) -> None:
        if self.bytes < 1 or self.every <= 0:
            raise WrongInput(
                "reads slowly",
                expected="at least one byte each time, and time between them",
                found=f"bytes={self.bytes}, every={self.every:g}",
            )

    @property
    def reading(self) -> Reading:
        """How the engine takes the request; it asks before it reads."""
        return Reading(self.bytes, self.every)

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        del ask
        return honest
