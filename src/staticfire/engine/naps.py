"""Letting time pass on an engine's clock."""

from __future__ import annotations

import asyncio

from staticfire.clock import Clock

__all__ = ["sleep"]


async def sleep(clock: Clock, delay: int) -> None:
    """Let `delay` ns pass on the clock."""
    woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    handle = clock.call_at(clock.now() + delay, _wake, woken)
    try:
        await woken
    finally:
        handle.cancel()


def _wake(woken: asyncio.Future[None]) -> None:
    if not woken.done():
        woken.set_result(None)
