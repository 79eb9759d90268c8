"""`claims an encoding`: a Content-Encoding that the body does not have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.engine.actions import Action, Head
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault

__all__ = ["ClaimsAnEncoding"]


@fault("claims an encoding")
@dataclass(frozen=True, slots=True)
class ClaimsAnEncoding:
    """Says that the body is compressed, and sends the plain honest one (public case B109)."""

    encoding: str = "gzip"

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "claims gzip for {what}": {"encoding": "gzip"},
        'claims the encoding "{encoding}" for {what}': {},
    }

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        del ask
        extra = (b"content-encoding", self.encoding.encode())
        for action in honest:
            if isinstance(action, Head):
                yield action._replace(headers=(*action.headers, extra))
            else:
                yield action
