"""Many deadlines of one length on one timer, so that a request costs no timer of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

__all__ = ["Deadlines"]

T = TypeVar("T", bound=Hashable)

_GRAIN = 1e-6  # a timer may be early by what a float cannot tell; a loop's time is exact to that


class Deadlines(Generic[T]):
    """Calls `expired` with each item that was not stopped `seconds` after it was started.

    All have one length, so the oldest is due first, and the timer stands for it. It is left alone
    when an item is stopped: nearly all are, long before.
    """

    def __init__(self, seconds: float, expired: Callable[[T], None]) -> None:
        self._seconds = seconds
        self._expired = expired
        self._due: dict[T, float] = {}  # in the order of their times
        self._timer: asyncio.TimerHandle | None = None

    def start(self, item: T, now: float) -> None:
        """Begin to wait for an item; `now` is the loop's time."""
        due = self._due[item] = now + self._seconds
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_at(due, self._look)

    def stop(self, item: T) -> None:
        """Wait for it no longer; one that has expired or was never started is no error."""
        self._due.pop(item, None)

    def close(self) -> None:
        """Forget all, leave no timer."""
        self._due.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        self._timer = None
        loop = asyncio.get_running_loop()
        while self._due:
            item, due = next(iter(self._due.items()))
            if due - loop.time() > _GRAIN:
                self._timer = loop.call_at(due, self._look)
                return
            del self._due[item]
            self._expired(item)
