"""Steps of the router under test, and what it says of itself."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

from staticfire.bdd.step import given, then, when
from staticfire.bdd.world import World
from staticfire.errors import BrokenPromise
from staticfire.judge import End, Judge

POLL = 0.25
"""Seconds between two questions to the router's readiness."""


@given("the router in front of all engines", example="the router in front of all engines")
async def _(world: World) -> None:
    """Start the router under test with every engine of the scenario as its worker."""
    await world.start_router()


@given(
    "the router in front of all engines, set to",
    example="the router in front of all engines, set to",
)
async def _(world: World, datatable: list[list[str]]) -> None:
    """As above; a table of settings by the names of the flags."""
    await world.start_router({name.strip(): value.strip() for name, value in datatable})


@given("the router is ready", example="the router is ready")
@when("the router is ready", example="the router is ready")
async def _(world: World) -> None:
    """Wait until it says so: as long as the scenario's known bug allows, or 600 s."""
    await wait_ready(world, None)


@when(
    "the router is ready within {seconds:g} seconds", example="the router is ready within 5 seconds"
)
async def _(world: World, seconds: float) -> None:
    """Wait until it says so, but not longer."""
    await wait_ready(world, seconds)


def path(world: World, of: str) -> str:
    """Where the router under test has its readiness or liveness."""
    return str(getattr(world.router, of, f"/{of}"))


async def wait_ready(world: World, asked: float | None) -> None:
    """Ask `/readiness` until it answers 200. Raises `BrokenPromise` when the time is up."""
    budget = world.wait_budget(asked)
    client = Judge(world.front)
    loop = asyncio.get_running_loop()
    started = loop.time()
    while True:
        answer = await client.ask("GET", path(world, "readiness"), deadline=5.0)
        waited = loop.time() - started
        if answer.status == 200:
            note = budget.close_call(waited)
            if note:
                world.reported.append(note)
            return
        if waited >= budget.seconds:
            raise BrokenPromise(budget.ran_out(f"the router never became ready; it says {answer}"))
        await asyncio.sleep(POLL)


@then("the router is not ready", example="the router is not ready")
async def _(world: World) -> None:
    """`/readiness` is 503 with a reason, while `/liveness` is 200."""
    client = Judge(world.front)
    ready = await client.ask("GET", path(world, "readiness"))
    alive = await client.ask("GET", path(world, "liveness"))
    if (ready.status, alive.status) != (503, 200) or not ready.body:
        raise BrokenPromise(f"expected 503 with a reason and 200; came:\n  {ready}\n  {alive}")


@then(
    'the router logged "{line}"',
    example='the router logged "16 out of 16 unique hosts are healthy"',
)
def _(world: World, line: str) -> None:
    """A line of its log, literally."""
    if line not in world.log:
        raise BrokenPromise(f"no log line {line!r}; the log:\n  " + "\n  ".join(world.log))


@then(
    'the router logged {count:d} workers as "{start}"',
    example='the router logged 16 workers as "Discovered model qwen on"',
)
def _(world: World, count: int, start: str) -> None:
    """One line for each worker, none twice, none for a placeholder."""
    lines = [line for line in world.log if line.startswith(start)]
    if len(lines) != count or len(set(lines)) != count:
        raise BrokenPromise(
            f"expected {count} different lines {start!r}…; found {len(lines)}:\n  "
            + "\n  ".join(lines)
        )


async def workers(world: World) -> list[dict[str, Any]]:
    """What `/workers` tells, in the order in which the engines were started."""
    answer = await Judge(world.front).ask("GET", "/workers")
    if answer.end is not End.WHOLE or answer.status != 200:
        raise BrokenPromise(f"/workers does not answer: {answer}")
    found: list[dict[str, Any]] = answer.json()["workers"]
    return found


def index(world: World, name: str) -> int:
    """The place of an engine among the workers."""
    world.engine(name)
    return list(world.engines).index(name)


@then('the breaker of engine "{name}" is {state}', example='the breaker of engine "a" is open')
async def _(world: World, name: str, state: str) -> None:
    """closed, open or half-open, as `/workers` tells."""
    found = (await workers(world))[index(world, name)]["breaker"]
    shown = found["state"] if isinstance(found, dict) else found
    if shown != state:
        raise BrokenPromise(f"expected the breaker of engine {name!r} {state}, it is {shown}")


@then('the router counted for engine "{name}"', example='the router counted for engine "a"')
async def _(world: World, name: str, datatable: list[list[str]]) -> None:
    """A table of outcomes and counts, exactly as the metric tells them."""
    page = (await Judge(world.front).ask("GET", "/metrics")).body.decode()
    worker = f'worker="w{index(world, name):02}"'
    pattern = re.compile(r"^staticfire_worker_requests_total\{(.*)\} (\S+)$", re.MULTILINE)
    found = {}
    for labels, value in pattern.findall(page):
        outcome = re.search(r'outcome="(\w+)"', labels)
        if worker in labels and outcome and float(value):
            found[outcome[1]] = int(float(value))
    expected = {outcome.strip(): int(count) for outcome, count in datatable if int(count)}
    if found != expected:
        raise BrokenPromise(f"expected the outcomes {expected}, the metric says {found}")


@then("{count:d} workers are in rotation", example="16 workers are in rotation")
async def _(world: World, count: int) -> None:
    """How many workers `/workers` calls serving."""
    found = sum(worker["serving"] for worker in await workers(world))
    if found != count:
        told = json.dumps(await workers(world), indent=1)
        raise BrokenPromise(f"expected {count} workers in rotation, found {found}: {told}")
