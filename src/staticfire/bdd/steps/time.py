"""Steps that let time pass."""

from __future__ import annotations

import asyncio

from staticfire.bdd.step import then, when
from staticfire.bdd.world import ROUGHLY, World
from staticfire.errors import BrokenPromise, WrongStep


@when("{seconds:g} seconds pass", example="8 seconds pass")
async def _(seconds: float) -> None:
    """Let time pass."""
    await asyncio.sleep(seconds)


@when("it is {seconds:g} s", example="it is 12 s")
async def _(world: World, seconds: float) -> None:
    """Wait until a time of the scenario, counted from its start; a little late is fine in real time."""
    if world.seconds > seconds + (0.0 if world.exact else ROUGHLY):
        raise WrongStep(f"it is {world.seconds:g} s already; {seconds:g} s has passed")
    async with asyncio.timeout_at(world.at(seconds)) as reached:
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            if not reached.expired():
                raise


@when(
    "the router has had {seconds:g} seconds to notice",
    example="the router has had 1 seconds to notice",
)
async def _(world: World, seconds: float) -> None:
    """Let time pass until the router has seen what changed: so long, or as long as it is known to take."""
    await world.notice(seconds)


@then("it is {seconds:g} s", example="it is 12 s")
def _(world: World, seconds: float) -> None:
    """The scenario's time, exactly."""
    if world.seconds != seconds:
        raise BrokenPromise(f"expected the time to be {seconds:g} s, it is {world.seconds:g} s")
