"""The loop of one scenario: engines, router and judge live on it, steps run on it one by one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, Protocol, TypeVar

from staticfire.clock import REAL, Clock
from staticfire.clock.scaled import ScaledLoop
from staticfire.clock.virtual import Stuck, VirtualLoop

__all__ = ["RealLoop", "ScenarioLoop", "VirtualScenarioLoop"]

T = TypeVar("T")

STEP_BUDGET = 7200.0
"""Virtual seconds that one step may take: a backstop."""


class ScenarioLoop(Protocol):
    """A loop that outlives its coroutines."""

    clock: Clock

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        """Run one coroutine to its end."""

    def close(self) -> list[str]:
        """End the loop; the names of the tasks that were left behind."""


QUIET = 3
"""Turns without a byte after which nothing more happens at an instant."""


class VirtualScenarioLoop:
    """Virtual time: it stands still between steps.

    A step ends when everything has happened that its instant still holds: bytes on their way
    arrive, closes are seen. So the next step finds the same state in every run. A runner from
    outside (pytest-asyncio's) may lend its loop; it is then closed by its owner.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self._runner = None if loop else asyncio.Runner(loop_factory=VirtualLoop)
        given = loop or (self._runner.get_loop() if self._runner else None)
        assert isinstance(given, VirtualLoop)
        self.loop = given
        self.clock: Clock = given.staticfire_clock

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        """Run one coroutine; raises `Stuck` when it cannot go on, its task then being cancelled."""
        task = self.loop.create_task(main, name="the step")
        try:
            with self.loop.budget(STEP_BUDGET):
                result = self.loop.run_until_complete(task)
                self.loop.run_until_complete(self._quiet())
        except Stuck:
            task.cancel()
            with self.loop.budget(STEP_BUDGET):
                self.loop.run_until_complete(asyncio.wait([task]))
            raise
        return result

    async def _quiet(self) -> None:
        while self.loop.empty_turns < QUIET:
            await asyncio.sleep(0)

    def close(self) -> list[str]:
        """Let what is ending end, name the rest, close the loop."""
        if self._runner is None:
            return []
        self.loop.run_until_complete(_settle())
        left = _names(self.loop)
        self._runner.close()
        return left


class RealLoop:
    """The real clock, on a thread of its own: engines serve between the steps too.

    With a rate its seconds are shorter than real ones, for routers that are programs.
    """

    def __init__(self, rate: float | None = None) -> None:
        self.clock: Clock = REAL
        if rate is None:
            self.loop = asyncio.new_event_loop()
        else:
            self.loop = scaled = ScaledLoop(rate)
            self.clock = scaled.staticfire_clock
        self._steps: set[asyncio.Task[Any]] = set()
        self._thread = threading.Thread(target=self._serve, name="static fire", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        """Run one coroutine on the thread. Ctrl-C leaves it to `close`, which cancels it."""
        return asyncio.run_coroutine_threadsafe(self._step(main), self.loop).result()

    async def _step(self, main: Coroutine[Any, Any, T]) -> T:
        task = asyncio.current_task()
        assert task is not None
        self._steps.add(task)
        try:
            return await main
        finally:
            self._steps.discard(task)

    def close(self) -> list[str]:
        """As `VirtualScenarioLoop.close`; a step that Ctrl-C interrupted is cancelled first."""
        for task in tuple(self._steps):
            self.loop.call_soon_threadsafe(task.cancel)
        self.run(_settle())
        left = _names(self.loop)
        self.loop.call_soon_threadsafe(self._end)
        self._thread.join()
        self.loop.close()
        return left

    def _end(self) -> None:
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.loop.call_soon(self.loop.stop)


async def _settle() -> None:
    """Give tasks that were just cancelled the turns that they need to end."""
    for _ in range(20):
        await asyncio.sleep(0)


def _names(loop: asyncio.AbstractEventLoop) -> list[str]:
    return sorted(task.get_name() for task in asyncio.all_tasks(loop) if not task.done())
