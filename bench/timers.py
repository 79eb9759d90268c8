"""What a jump of the virtual clock costs."""

from __future__ import annotations

import asyncio
import time

from bench.figure import Figure
from staticfire.clock.virtual import run

__all__ = ["TINY", "measure"]

TINY = {"runs": 1, "count": 100}


def measure(runs: int = 7, count: int = 20_000) -> list[Figure]:
    figures = []
    for others in (0, 1000):
        values = tuple(run(_turns(count, others), budget=1e9) for _ in range(runs))
        note = f"{count} sleeps one after another" + (f", {others} timers beside" if others else "")
        figures.append(
            Figure("one turn of the virtual loop with a timer", "µs", values, None, note)
        )
    return figures


async def _turns(count: int, others: int) -> float:
    """Microseconds for one sleep."""
    loop = asyncio.get_running_loop()
    handles = [loop.call_later(count + 1 + other, _nothing) for other in range(others)]
    began = time.perf_counter()
    for _ in range(count):
        await asyncio.sleep(1.0)
    took = time.perf_counter() - began
    for handle in handles:
        handle.cancel()
    return took / count * 1e6


def _nothing() -> None:
    pass
