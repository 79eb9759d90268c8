"""`sends an interim answer`: a 1xx that nobody asked for, before the answer or for good."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.engine.actions import Action, HoldOpen, Raw
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault
from staticfire.engine.framing import REASONS
from staticfire.errors import WrongInput

__all__ = ["SendsAnInterimAnswer"]


@fault("sends an interim answer")
@dataclass(frozen=True, slots=True)
class SendsAnInterimAnswer:
    """Sends `times` interim answers of `status` (100, 102, 103), then the honest one.

    Without `final` nothing follows: the connection stays open and silent. An unasked 101 is another
    thing, see `switches protocols`.
    """

    status: int = 100
    times: int = 1
    final: bool = True

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        f"{how} {status} {which} {{what}}": {"status": status, **fixed}
        for status in (100, 102, 103)
        for how, which, fixed in (
            ("sends an interim", "before", {}),
            ("sends {times:d} interim", "before", {}),
            ("sends only an interim", "for", {"final": False}),
        )
    }

    def __post_init__(self) -> None:
        if not 100 <= self.status < 200 or self.status == 101:
            raise WrongInput(
                "sends an interim answer: status",
                expected="a status from 100 to 199 that is not 101",
                found=str(self.status),
                do="100 or 103, for example",
            )

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        del ask
        reason = REASONS.get(self.status, b"")
        early = b"link: </style.css>; rel=preload\r\n" if self.status == 103 else b""
        yield Raw(b"HTTP/1.1 %d %b\r\n%b\r\n" % (self.status, reason, early) * self.times)
        if self.final:
            yield from honest
        else:
            yield HoldOpen()
