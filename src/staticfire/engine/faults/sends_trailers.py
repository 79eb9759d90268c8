"""`sends trailers`: header fields after the last chunk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.engine.actions import Action, Finish, Head, Raw, Unchunk
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault, frozen_headers
from staticfire.engine.faults.reframing import chunked

__all__ = ["SendsTrailers"]


@fault("sends trailers")
@dataclass(frozen=True, slots=True)
class SendsTrailers:
    """Sends the answer in chunks and `trailers` after the last one (RFC 9112, 7.1.2)."""

    trailers: tuple[tuple[str, str], ...] = (("x-checksum", "0"),)

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {"ends {what} with trailers": {}}

    def __post_init__(self) -> None:
        object.__setattr__(self, "trailers", frozen_headers(self.trailers))

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        del ask
        names = ", ".join(name for name, _ in self.trailers).encode()
        lines = "".join(f"{name}: {value}\r\n" for name, value in self.trailers).encode()
        for action in chunked(honest):
            if isinstance(action, Head):
                yield action._replace(headers=(*action.headers, (b"trailer", names)))
            elif isinstance(action, Finish):
                yield Raw(b"0\r\n%b\r\n" % lines)
                yield Unchunk()
                yield action
            else:
                yield action
