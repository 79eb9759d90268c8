"""`switches protocols`: an unasked 101 with a tunnel behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.engine.actions import UNFRAMED, Action, Head, HoldOpen, Raw
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault

__all__ = ["SwitchesProtocols"]


@fault("switches protocols")
@dataclass(frozen=True, slots=True)
class SwitchesProtocols:
    """Answers 101 to `protocol` though no upgrade was asked for, sends a few bytes, stays open."""

    protocol: str = "websocket"

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {"switches protocols in {what}": {}}

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        del honest, ask
        headers = ((b"connection", b"Upgrade"), (b"upgrade", self.protocol.encode()))
        yield Head(101, headers, UNFRAMED)
        yield Raw(b"\x81\x05hello")
        yield HoldOpen()
