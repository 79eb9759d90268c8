"""`sends a big head`: more header fields, or longer ones, than a client may take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.engine.actions import Action, Head
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault
from staticfire.errors import WrongInput

__all__ = ["SendsABigHead"]


@fault("sends a big head")
@dataclass(frozen=True, slots=True)
class SendsABigHead:
    """Adds `headers` fields of `bytes` bytes each to the honest head, all of them well formed."""

    headers: int = 200
    bytes: int = 20

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "sends {headers:d} more headers in {what}": {},
        "sends a header of {bytes:d} bytes in {what}": {"headers": 1},
    }

    def __post_init__(self) -> None:
        if self.headers < 1 or self.bytes < 20:
            raise WrongInput(
                "sends a big head",
                expected="at least one header, of 20 bytes or more",
                found=f"headers={self.headers}, bytes={self.bytes}",
                do="headers=200, for example",
            )

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        del ask
        names = [b"x-more-%d" % number for number in range(self.headers)]
        more = tuple((name, b"x" * (self.bytes - len(name) - 2)) for name in names)
        for action in honest:
            if isinstance(action, Head):
                yield action._replace(headers=(*action.headers, *more))
            else:
                yield action
