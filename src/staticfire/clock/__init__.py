"""What time it is: integer nanoseconds, real or virtual.

Nothing else in the house asks for the time (a lint test holds that). Pure cores take `now: int`
in nanoseconds; settings are float seconds, converted once at the edge with `ns`; the asyncio
shells ask `current()`, which reads the running loop.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Protocol

__all__ = ["NS", "REAL", "Clock", "current", "ns", "seconds"]

NS = 1_000_000_000


def ns(seconds: float) -> int:
    """Float seconds as integer nanoseconds."""
    return round(seconds * NS)


def seconds(ns: int) -> float:
    """Integer nanoseconds as float seconds."""
    return ns / NS


class Clock(Protocol):
    """A source of time, and of timers in that time."""

    def now(self) -> int:
        """Nanoseconds since an arbitrary start; never goes back; the base of `loop.time()`."""

    def wall(self) -> float:
        """Seconds since 1970, for dates that people read."""

    def boot(self) -> int:
        """Nanoseconds since the machine started, sleep included; the same in every process."""

    def call_at(
        self, when: int, callback: Callable[..., object], *args: Any, first: bool = False
    ) -> asyncio.TimerHandle:
        """Call back at `when` nanoseconds.

        `first` is for the life of engines, binds and kills: in virtual time it fires before
        everything else that is due at the same instant.
        """


class RealClock:
    """The machine's own clocks."""

    def now(self) -> int:
        return time.monotonic_ns()

    def wall(self) -> float:
        return time.time()

    def boot(self) -> int:
        clock = getattr(time, "CLOCK_BOOTTIME", None)
        return time.monotonic_ns() if clock is None else time.clock_gettime_ns(clock)

    def call_at(
        self, when: int, callback: Callable[..., object], *args: Any, first: bool = False
    ) -> asyncio.TimerHandle:
        del first  # real timers never fall due at one instant
        return asyncio.get_running_loop().call_at(when / NS, callback, *args)


REAL: Clock = RealClock()


def current() -> Clock:
    """The clock of the running loop; the real clock outside one."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return REAL
    clock: Clock = getattr(loop, "staticfire_clock", REAL)
    return clock
