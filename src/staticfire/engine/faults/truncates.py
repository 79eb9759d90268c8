"""`truncates`: the answer stops in the middle, with the connection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.clock import ns
from staticfire.engine.actions import Action, Close, CutAfter, CutAt, Finish, Head, Send
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault
from staticfire.errors import WrongInput

__all__ = ["Truncates"]


@fault("truncates")
@dataclass(frozen=True, slots=True)
class Truncates:
    """Cuts the answer after `bytes`, `events` or `seconds`: exactly one of them.

    `bytes` are body bytes before chunking; with `wire` they are bytes of the wire, head and chunk
    sizes included. Seconds count from the head. The cut is a FIN, or an RST with `reset`. An answer
    shorter than `events`, `seconds` or the wire bytes stays whole.
    """

    bytes: int | None = None
    events: int | None = None
    seconds: float | None = None
    wire: bool = False
    reset: bool = False

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        f"truncates {{what}} after {amount}{by}": {
            **({"wire": True} if "wire" in amount else {}),
            **({"reset": True} if by else {}),
        }
        for amount in (
            "{bytes:d} byte",
            "{bytes:d} bytes",
            "{bytes:d} bytes of the wire",
            "{events:d} event",
            "{events:d} events",
            "{seconds:duration}",
        )
        for by in ("", " with a reset")
    }

    def __post_init__(self) -> None:
        given = [name for name in ("bytes", "events", "seconds") if getattr(self, name) is not None]
        if len(given) != 1:
            raise WrongInput(
                "truncates",
                expected="one of bytes, events, seconds",
                found=" and ".join(given) or "none of them",
                do="bytes=100, for example",
            )

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        del ask
        if self.wire and self.bytes is not None:
            yield CutAt(self.bytes, self.reset)
            yield from honest
        elif self.seconds is not None:
            for action in honest:
                if isinstance(action, Head):
                    yield CutAfter(ns(self.seconds), self.reset)
                yield action
        elif self.bytes is not None:
            yield from self._after_bytes(honest, self.bytes)
        else:
            yield from self._after_events(honest, self.events or 0)

    def _after_bytes(self, honest: Iterator[Action], left: int) -> Iterator[Action]:
        for action in honest:
            if not isinstance(action, Send):
                yield action
                if isinstance(action, Head) and left == 0:
                    break
            elif len(action.data) < left:
                left -= len(action.data)
                yield action
            else:
                yield action._replace(data=action.data[:left])
                break
        else:
            return
        yield Close(self.reset)

    def _after_events(self, honest: Iterator[Action], left: int) -> Iterator[Action]:
        for action in honest:
            if isinstance(action, Send) and action.event:
                if left == 0:
                    break
                left -= 1
            elif isinstance(action, Finish) and left == 0:
                break
            yield action
        else:
            return
        yield Close(self.reset)
