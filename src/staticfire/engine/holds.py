"""Holds: a place where a mock engine announces an arrival and parks until the test releases it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

__all__ = ["PLACES", "Hold"]

PLACES = ("head", "first token", "token", "end")
"""The places in an answer where a hold parks; any other name is for a phase's `hold=`."""


class Hold:
    """One place; made by `engine.hold(place)`."""

    __slots__ = ("_arrived", "_credit", "_parked", "_tell", "_waiters", "place", "released")

    def __init__(self, place: str, tell: Callable[[], None]) -> None:
        self.place = place
        self.released = False
        """Whether everything passes from now on."""
        self._tell = tell
        self._arrived = 0
        self._credit = 0
        self._parked: deque[asyncio.Future[None]] = deque()
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []

    @property
    def parked(self) -> int:
        """How many wait here now."""
        return len(self._parked)

    async def arrived(self, n: int = 1) -> None:
        """Wait until `n` arrivals have been announced, counted from the hold's making."""
        if self._arrived >= n:
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append((n, waiter))
        await waiter

    def release(self, n: int | None = None) -> None:
        """Let `n` arrivals pass, parked or still to come; None opens the place for good."""
        if n is None:
            self.released = True
            n = len(self._parked)
        for _ in range(n):
            while self._parked and self._parked[0].done():
                self._parked.popleft()
            if self._parked:
                self._parked.popleft().set_result(None)
            else:
                self._credit += 1
        self._tell()

    async def pass_by(self) -> None:
        """Announce an arrival and park until released; the engine's side."""
        self._arrived += 1
        for n, waiter in self._waiters:
            if self._arrived >= n and not waiter.done():
                waiter.set_result(None)
        if self.released:
            return
        if self._credit:
            self._credit -= 1
            return
        parked: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._parked.append(parked)
        try:
            await parked
        except asyncio.CancelledError:
            if parked in self._parked:
                self._parked.remove(parked)
            raise
