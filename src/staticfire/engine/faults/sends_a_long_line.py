"""`sends a long line`: one line that is longer than a reader may hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.engine.actions import Action, Head, Send, header, without
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault
from staticfire.errors import WrongInput

__all__ = ["SendsALongLine"]

FIELD = b'"padding":"%b",'


@fault("sends a long line")
@dataclass(frozen=True, slots=True)
class SendsALongLine:
    """Makes the first event of a stream, or the JSON body, `bytes` bytes longer, all in one line.

    The JSON stays valid: a field `padding` is put into it. Line readers have limits of 64 KiB or
    1 MiB, and some take what is longer for the end (public case B038).
    """

    bytes: int = 2 * 1024 * 1024

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "sends a line that is {bytes:d} bytes longer in {what}": {},
    }

    def __post_init__(self) -> None:
        if self.bytes < len(FIELD):
            raise WrongInput(
                "sends a long line: bytes", expected=f"at least {len(FIELD)}", found=str(self.bytes)
            )

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        del ask
        padding = FIELD % (b"x" * (self.bytes - len(FIELD) + 2))
        padded = False
        for action in honest:
            if isinstance(action, Head):
                own = header(action.headers, b"content-length")
                if own is not None:
                    kept = without(action.headers, b"content-length")
                    length = (b"content-length", b"%d" % (int(own) + len(padding)))
                    yield action._replace(headers=(*kept, length))
                else:
                    yield action
            elif isinstance(action, Send) and not padded:
                padded = True
                yield action._replace(data=action.data.replace(b"{", b"{" + padding, 1))
            else:
                yield action
