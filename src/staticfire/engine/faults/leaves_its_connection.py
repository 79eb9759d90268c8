"""`leaves its connection`: a kept connection that is no good for the next request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.clock import ns
from staticfire.engine.actions import Action, Afterwards
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault, one_of
from staticfire.errors import WrongInput

__all__ = ["LeavesItsConnection"]

HOWS = ("closes", "closes next", "resets next", "silent")


@fault("leaves its connection")
@dataclass(frozen=True, slots=True)
class LeavesItsConnection:
    """Answers honestly and whole, keeps the connection alive, and then forsakes it without notice.

    `how` it does: it `closes` after `seconds` of idleness (0: right after the answer; a server's own
    idle time is what breaks pools, public case B095), ends by FIN (`closes next`) or RST (`resets
    next`) when the next request comes, or falls `silent`: it stays open and never answers that
    request. A request that comes in time for `closes` is answered.
    """

    how: str = "silent"
    seconds: float = 0.0

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "closes the connection after {what}": {"how": "closes"},
        "closes the connection {seconds:duration} after {what}": {"how": "closes"},
        "closes on the next request after {what}": {"how": "closes next"},
        "resets the next request after {what}": {"how": "resets next"},
        "goes silent after {what}": {"how": "silent"},
    }

    def __post_init__(self) -> None:
        one_of("leaves its connection", "how", self.how, HOWS)
        if self.seconds < 0 or (self.seconds and self.how != "closes"):
            raise WrongInput(
                "leaves its connection: seconds",
                expected="0 or more, and with `closes` only",
                found=f"{self.seconds:g} with {self.how}",
            )

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        del ask
        yield Afterwards(self.how, ns(self.seconds))
        yield from honest
