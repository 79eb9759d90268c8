"""An event loop whose seconds are shorter than real ones, or stand still.

Other people's routers live in real time, and a scenario that lets 172 seconds pass would take as
long. Engines, clients and steps on this loop live `rate` seconds in each real one, and the router
is given its own times divided by `rate`. At rate 0 time stands still and sockets are served: while
a router starts, which costs a tenth of a second or ten, no scenario time passes.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Callable
from typing import Any

from staticfire.clock import NS, REAL

__all__ = ["ScaledClock", "ScaledLoop"]


class ScaledClock:
    """The clock of a `ScaledLoop`."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._real = self._then = time.monotonic_ns()
        self._wall = REAL.wall() - self._then / NS

    @property
    def rate(self) -> float:
        """Seconds of the loop in each real second."""
        return self._rate

    @rate.setter
    def rate(self, rate: float) -> None:
        self._then, self._real = self.now(), time.monotonic_ns()
        self._rate = rate

    def now(self) -> int:
        return self._then + int((time.monotonic_ns() - self._real) * self._rate)

    def wall(self) -> float:
        return self._wall + self.now() / NS

    def boot(self) -> int:
        return self.now()

    def call_at(
        self, when: int, callback: Callable[..., object], *args: Any, first: bool = False
    ) -> asyncio.TimerHandle:
        del first  # as on the real clock: no two timers fall due at one instant
        return asyncio.get_running_loop().call_at(when / NS, callback, *args)


class _Selector(selectors.DefaultSelector):
    clock: ScaledClock

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is not None and timeout > 0:
            timeout = timeout / self.clock.rate if self.clock.rate else None
        return super().select(timeout)


class ScaledLoop(asyncio.SelectorEventLoop):
    """A selector loop whose `time()` runs at a rate that may be changed from within."""

    def __init__(self, rate: float = 1.0) -> None:
        selector = _Selector()
        selector.clock = self.staticfire_clock = ScaledClock(rate)
        super().__init__(selector)

    def time(self) -> float:
        return self.staticfire_clock.now() / NS
