"""Steps of a client: what it asks."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from staticfire.bdd.step import when
from staticfire.bdd.world import World
from staticfire.engine import MockEngine
from staticfire.errors import WrongStep
from staticfire.judge import Answer

KINDS = {"JSON": False, "streaming": True}


def streams(kind: str) -> bool:
    """Whether a request of this kind streams; raises `WrongStep` for a word that is no kind."""
    if kind not in KINDS:
        raise WrongStep(f"a request is JSON or streaming, not {kind!r}")
    return KINDS[kind]


async def ask(world: World, kind: str, url: str | None = None, **more: Any) -> Answer:
    """One chat request of a kind."""
    return await world.judge(url).chat(world.model, stream=streams(kind), **more)


@when("a {kind} request is sent", example="a JSON request is sent")
async def _(world: World, kind: str) -> None:
    """One chat request, to the router, or to the only engine where there is no router.

    A kind is JSON or streaming.
    """
    await ask(world, kind)


@when('a {kind} request is sent to engine "{name}"', example='a JSON request is sent to engine "a"')
async def _(world: World, kind: str, name: str) -> None:
    """One chat request straight to an engine."""
    await ask(world, kind, world.engine(name).url)


@when(
    'a {kind} request is sent to engine "{name}" by a client that waits {seconds:g} seconds',
    example='a JSON request is sent to engine "a" by a client that waits 5 seconds',
)
async def _(world: World, kind: str, name: str, seconds: float) -> None:
    """One chat request straight to an engine, by a client that then leaves."""
    await ask(world, kind, world.engine(name).url, deadline=seconds)


@when(
    '"{route}" is asked of engine "{name}" for {seconds:g} seconds',
    example='"GET /health" is asked of engine "a" for 5 seconds',
)
async def _(world: World, route: str, name: str, seconds: float) -> None:
    """Any request without a body, method and path, by a client that waits so long."""
    method, _, path = route.partition(" ")
    if not method.isupper() or not path.startswith("/"):
        raise WrongStep(f'a route is a method and a path, such as "GET /health", not "{route}"')
    await world.judge(world.engine(name).url).ask(method, path, deadline=seconds)


@when(
    'a {kind} request for model "{model}" is sent',
    example='a JSON request for model "llama" is sent',
)
async def _(world: World, kind: str, model: str) -> None:
    """One chat request that names its model."""
    await world.judge().chat(model, stream=streams(kind))


@when(
    "{count:d} {kind} requests are sent one after another",
    example="5 JSON requests are sent one after another",
)
async def _(world: World, count: int, kind: str) -> None:
    """Each is sent when the one before was answered."""
    for _ in range(count):
        await ask(world, kind)


@when("{count:d} {kind} requests are sent at once", example="5 JSON requests are sent at once")
async def _(world: World, count: int, kind: str) -> None:
    """All are sent at one instant; the step ends with the last answer."""
    await asyncio.gather(*(ask(world, kind) for _ in range(count)))


@when(
    "a {kind} request is sent every {every:g} seconds for {total:g} seconds",
    example="a JSON request is sent every 0.25 seconds for 8 seconds",
)
async def _(world: World, kind: str, every: float, total: float) -> None:
    """Requests at a steady pace, whether or not earlier ones were answered."""
    started = asyncio.get_running_loop().time()
    async with asyncio.TaskGroup() as group:
        for number in range(round(total / every)):
            async with asyncio.timeout_at(started + number * every) as due:
                await _forever(due)
            group.create_task(ask(world, kind))
        async with asyncio.timeout_at(started + total) as due:
            await _forever(due)


async def _forever(due: asyncio.Timeout) -> None:
    """Wait until the surrounding timeout, which then swallows it."""
    try:
        await asyncio.get_running_loop().create_future()
    except asyncio.CancelledError:
        if not due.expired():
            raise


@when(
    "a {kind} request is sent and its client leaves after {seconds:g} seconds",
    example="a streaming request is sent and its client leaves after 1 seconds",
)
async def _(world: World, kind: str, seconds: float) -> None:
    """A client that closes its connection while the answer is still to come."""
    await ask(world, kind, deadline=seconds)


@when(
    "{count:d} {kind} requests are sent and their clients leave after {seconds:g} seconds",
    example="10 streaming requests are sent and their clients leave after 1 seconds",
)
async def _(world: World, count: int, kind: str, seconds: float) -> None:
    """Clients that come one after another, and none waits for its answer's end."""
    for _ in range(count):
        await ask(world, kind, deadline=seconds)


@when(
    "{count:d} requests without messages are sent one after another",
    example="20 requests without messages are sent one after another",
)
async def _(world: World, count: int) -> None:
    """JSON that names the model and is no chat request: the client's mistake."""
    client = world.judge()
    for _ in range(count):
        await client.ask(
            "POST",
            "/v1/chat/completions",
            headers=[("Content-Type", "application/json")],
            body=json.dumps({"model": world.model}).encode(),
        )


@when(
    'a {kind} request "{name}" is on its way',
    example='a JSON request "slow" is on its way',
)
async def _(world: World, kind: str, name: str) -> None:
    """A request whose answer a later step waits for."""
    before = seen(world)
    task = asyncio.create_task(ask(world, kind), name=f"request {name}")
    world.facts[f"request {name}"] = task
    await asyncio.sleep(0.001)
    due = world.seconds + ARRIVES
    while not world.exact and seen(world) == before and world.seconds < due:  # noqa: ASYNC110 - another process sends it
        await asyncio.sleep(LOOK)


ARRIVES, LOOK = 5.0, 0.02
"""Seconds in which a request has reached an engine where time is not virtual; between two looks."""


def seen(world: World) -> int:
    """How many requests the mock engines have seen."""
    mocks = (engine for engine in world.engines.values() if isinstance(engine, MockEngine))
    return sum(len(engine.journal.requests(on="POST /v1/chat/completions")) for engine in mocks)


@when('request "{name}" is answered', example='request "slow" is answered')
async def _(world: World, name: str) -> None:
    """Wait for the answer of a request that is on its way."""
    await world.facts[f"request {name}"]


@when(
    '{count:d} requests are on their way to engine "{name}"',
    example='30 requests are on their way to engine "full"',
)
async def _(world: World, count: int, name: str) -> None:
    """Requests straight to an engine, whose answers a later step waits for."""
    url = world.engine(name).url
    world.facts["on their way"] = [
        asyncio.create_task(ask(world, "JSON", url), name=f"request {number}")
        for number in range(count)
    ]
    await asyncio.sleep(0.001)


@when("all of them are answered", example="all of them are answered")
async def _(world: World) -> None:
    """Wait for the answers of the requests that are on their way."""
    await asyncio.gather(*world.facts["on their way"])
