"""What a connection needs of the engine it belongs to."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from staticfire.clock import Clock
from staticfire.engine.journal import Journal

if TYPE_CHECKING:
    from staticfire.engine.tap import Tap

__all__ = ["Stand", "Stoppable"]


class Stoppable(Protocol):
    """An answer on its way, as the connection knows it."""

    def stop(self, how: str) -> None:
        """The engine is to end: `abort` the answer, or leave it `mute`."""
        ...


class Stand(Protocol):
    """What a tap needs of its engine."""

    clock: Clock
    journal: Journal
    idle: int

    @property
    def open(self) -> bool:
        """Whether its port is open."""
        ...

    def tap_made(self, tap: Tap) -> int:
        """One more connection; its number."""
        ...

    def tap_lost(self, number: int) -> None:
        """One of them is gone."""
        ...

    @property
    def swallows(self) -> bool:
        """Whether connections made now are never read."""
        ...

    def app(self) -> asyncio.Protocol:
        """A fresh aiohttp protocol for one connection."""
        ...
