"""Steps of single probes: which kind, with which key, how long."""

from __future__ import annotations

from typing import Any

from staticfire import readiness
from staticfire.bdd.step import given, then, when
from staticfire.bdd.steps.engines import CHAT, requests
from staticfire.bdd.world import MODEL, World
from staticfire.engine import Capacity, Script
from staticfire.errors import BrokenPromise
from staticfire.judge import PROMPT


@given('an embeddings engine "{name}"', example='an embeddings engine "one"')
async def _(world: World, name: str) -> None:
    """An engine whose model has an embeddings route and no chat."""
    await world.mock_engine(name, Script(model=MODEL, embeddings=True))


@given('an engine "{name}" of model "{model}"', example='an engine "one" of model "other/qwen"')
async def _(world: World, name: str, model: str) -> None:
    """An engine that serves that model at once."""
    await world.mock_engine(name, Script(model=model))


@given(
    'an engine "{name}" with the routes of reinforcement learning',
    example='an engine "one" with the routes of reinforcement learning',
)
async def _(world: World, name: str) -> None:
    """An engine that can be put to sleep, paused and resumed: vLLM in development mode."""
    await world.mock_engine(name, Script(model=MODEL, dev_mode=True))


@given(
    'an engine "{name}" with {slots:d} slots, {seconds:g} seconds a request',
    example='an engine "full" with 1 slots, 2 seconds a request',
)
async def _(world: World, name: str, slots: int, seconds: float) -> None:
    """What comes besides waits in its queue, without bound."""
    capacity = Capacity(slots=slots, first_token=seconds)
    await world.mock_engine(name, Script(model=MODEL, capacity=capacity))


async def ask(world: World, url: str, **options: Any) -> None:
    """Probe, and keep the evidence with how long it took."""
    started = world.seconds
    world.facts["evidence"] = await readiness.probe(
        url, world.model, **{"headers": world.lane.key.headers, **options}
    )
    world.facts["probe took"] = world.seconds - started


@when(
    'a probe of kind "{kind}" asks engine "{name}"',
    example='a probe of kind "embeddings" asks engine "one"',
)
async def _(world: World, kind: str, name: str) -> None:
    """auto, chat, completion or embeddings."""
    await ask(world, world.engine(name).url, kind=kind)


@when(
    'a probe with the key "{key}" asks engine "{name}"',
    example='a probe with the key "s3cret" asks engine "one"',
)
async def _(world: World, key: str, name: str) -> None:
    """The key as a bearer token, as `--api-key-env` and `--api-key-file` send it."""
    headers = readiness.key_headers(env="KEY", environ={"KEY": key})
    await ask(world, world.engine(name).url, headers=headers)


@when(
    'a probe that waits {limit:g} seconds asks engine "{name}"',
    example='a probe that waits 0.5 seconds asks engine "one"',
)
async def _(world: World, limit: float, name: str) -> None:
    """A probe with a deadline of its own."""
    await ask(world, world.engine(name).url, deadline=limit)


@when(
    'a probe asks engine "{name}" at host "{host}"',
    example='a probe asks engine "one" at host "localhost"',
)
async def _(world: World, name: str, host: str) -> None:
    """By a name instead of its address."""
    await ask(world, world.engine(name).url.replace("127.0.0.1", host))


@then(
    'every request to engine "{name}" carried the key "{key}"',
    example='every request to engine "one" carried the key "s3cret"',
)
def _(world: World, name: str, key: str) -> None:
    """List and chat alike."""
    seen = [
        (request.path, request.headers.get("authorization"))
        for request in world.mock(name).journal.requests()
    ]
    if len(seen) < 2 or any(carried != f"Bearer {key}" for _, carried in seen):
        raise BrokenPromise(f"expected the key with list and chat; engine {name!r} saw {seen}")


@then('nothing tells the key "{key}"', example='nothing tells the key "s3cret"')
def _(world: World, key: str) -> None:
    """Neither the reason nor any other part of the evidence."""
    told = repr(world.facts["evidence"])
    if key in told:
        raise BrokenPromise(f"expected evidence without the key, it is {told}")


@then(
    'engine "{name}" was asked {count:d} times for "{route}"',
    example='engine "one" was asked 1 times for "POST /v1/embeddings"',
)
def _(world: World, name: str, count: int, route: str) -> None:
    """Requests on one route, whoever sent them."""
    found = len(requests(world.mock(name), route))
    if found != count:
        raise BrokenPromise(f"expected {count} of {route} at engine {name!r}, it saw {found}")


@then('engine "{name}" was probed {count:d} times', example='engine "one" was probed 1 times')
def _(world: World, name: str, count: int) -> None:
    """Chat requests of readiness, those of clients left out."""
    every = requests(world.mock(name), CHAT)
    found = sum(PROMPT.encode() not in request.body for request in every)
    if found != count:
        raise BrokenPromise(f"expected {count} probes of engine {name!r}, it saw {found}")
