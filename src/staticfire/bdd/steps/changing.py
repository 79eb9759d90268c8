"""Steps of a fleet that changes under a router: workers added, drained and removed at run time."""

from __future__ import annotations

import json
from fnmatch import fnmatch
from typing import Any

from staticfire.bdd.step import given, then, when
from staticfire.bdd.steps.client import streams
from staticfire.bdd.steps.engines import CHAT, requests
from staticfire.bdd.steps.router import workers
from staticfire.bdd.world import World
from staticfire.errors import BrokenPromise
from staticfire.judge import PROMPT, End, Judge

JSON = [("Content-Type", "application/json")]


async def admin(world: World, method: str, path: str, body: object = None) -> dict[str, Any]:
    """One request to the router's admin API, which must take it."""
    data = b"" if body is None else json.dumps(body).encode()
    answer = await Judge(world.front).ask(method, path, headers=JSON, body=data)
    if answer.end is not End.WHOLE or not 200 <= (answer.status or 0) < 300:
        raise BrokenPromise(f"expected {method} {path} to be done; came: {answer}")
    found: dict[str, Any] = answer.json()
    return found


async def worker(world: World, name: str) -> dict[str, Any]:
    """What the router tells of the worker that is an engine; raises when it has none."""
    url = world.engine(name).url
    for found in await workers(world):
        if found.get("url") == url:
            return found
    raise BrokenPromise(f"engine {name!r} is no worker of the router")


@given('the router in front of engine "{name}"', example='the router in front of engine "a"')
async def _(world: World, name: str) -> None:
    """Start the router under test with one engine as its only worker."""
    await world.start_router(names=[name])


@given(
    'the router in front of engine "{name}", set to',
    example='the router in front of engine "a", set to',
)
async def _(world: World, name: str, datatable: list[list[str]]) -> None:
    """As above; a table of settings by the names of the flags."""
    settings = {setting.strip(): value.strip() for setting, value in datatable}
    await world.start_router(settings, names=[name])


@when('the router adds engine "{name}"', example='the router adds engine "late"')
async def _(world: World, name: str) -> None:
    """As a worker, at run time."""
    await admin(world, "POST", "/workers", {"url": world.engine(name).url})


@when(
    'the router adds engine "{name}" with the key "{key}"',
    example='the router adds engine "late" with the key "key-late"',
)
async def _(world: World, name: str, key: str) -> None:
    """As a worker that wants a key."""
    await admin(world, "POST", "/workers", {"url": world.engine(name).url, "api_key": key})


@when(
    'the router adds engine "{name}" with priority {priority:d}',
    example='the router adds engine "spare" with priority 1',
)
async def _(world: World, name: str, priority: int) -> None:
    """As a worker that is asked only when nobody of a lower number can be."""
    await admin(world, "POST", "/workers", {"url": world.engine(name).url, "priority": priority})


@when('the router removes engine "{name}"', example='the router removes engine "a"')
async def _(world: World, name: str) -> None:
    """For good, whatever is under way there."""
    found = await worker(world, name)
    await admin(world, "DELETE", f"/workers/{found['id']}")


@when('the router drains engine "{name}"', example='the router drains engine "a"')
async def _(world: World, name: str) -> None:
    """Nothing new for it from now on."""
    found = await worker(world, name)
    await admin(world, "PATCH", f"/workers/{found['id']}", {"draining": True})


@when('the router takes engine "{name}" back', example='the router takes engine "a" back')
async def _(world: World, name: str) -> None:
    """It drains no more."""
    found = await worker(world, name)
    await admin(world, "PATCH", f"/workers/{found['id']}", {"draining": False})


@when(
    'the router\'s workers become engines "{names}"',
    example='the router\'s workers become engines "b, c"',
)
async def _(world: World, names: str) -> None:
    """These and no others, as a discovery feed says after it was cut."""
    urls = [world.engine(name.strip()).url for name in names.split(",")]
    await admin(world, "PUT", "/workers", {"workers": [{"url": url} for url in urls]})


@then('the router calls engine "{name}" {sign}', example='the router calls engine "a" wedged')
async def _(world: World, name: str, sign: str) -> None:
    """well, suspect or wedged, as `/workers` tells."""
    found = (await worker(world, name))["sign"]
    if found != sign:
        raise BrokenPromise(f"expected engine {name!r} to be called {sign}, it is {found}")


@then(
    '{count:d} requests are under way at engine "{name}"',
    example='5 requests are under way at engine "a"',
)
async def _(world: World, count: int, name: str) -> None:
    """As `/workers` tells; a load that is not given back would make it look full for ever."""
    found = (await worker(world, name))["in_flight"]
    if found != count:
        raise BrokenPromise(f"expected {count} requests under way at {name!r}, found {found}")


@then("the router lists the models {names}", example="the router lists the models llama, qwen")
async def _(world: World, names: str) -> None:
    """What `/v1/models` names, in its order."""
    answer = await Judge(world.front).ask("GET", "/v1/models")
    found = [entry["id"] for entry in answer.json()["data"]]
    expected = [name.strip() for name in names.split(",")]
    if found != expected:
        raise BrokenPromise(f"expected the models {expected}, the router lists {found}")


@then(
    'the router never logged "{pattern}"',
    example='the router never logged "w00*leaves the rotation: *refused*"',
)
def _(world: World, pattern: str) -> None:
    """No line of its log is like that; `*` stands for anything."""
    found = [line for line in world.log if fnmatch(line, pattern)]
    if found:
        raise BrokenPromise(f"expected no log line like {pattern!r}; found: {found[0]!r}")


@when(
    '{count:d} {kind} requests for model "{model}" are sent one after another',
    example='4 JSON requests for model "llama" are sent one after another',
)
async def _(world: World, count: int, kind: str, model: str) -> None:
    """Each is sent when the one before was answered."""
    for _ in range(count):
        await world.judge().chat(model, stream=streams(kind))


@when("a {kind} request without a model is sent", example="a JSON request without a model is sent")
async def _(world: World, kind: str) -> None:
    """A chat request that leaves out which model is meant."""
    await world.judge().chat(None, stream=streams(kind))


@then(
    'engine "{name}" was asked for the models {models}',
    example='engine "a" was asked for the models qwen',
)
def _(world: World, name: str, models: str) -> None:
    """The names in the requests of the scenario's clients, as they reached the engine."""
    mine = [r for r in requests(world.mock(name), CHAT) if PROMPT.encode() in r.body]
    found, expected = sorted({str(r.model) for r in mine}), models.split(", ")
    if found != sorted(expected):
        raise BrokenPromise(f"expected engine {name!r} asked for {expected}, it was for {found}")


@then('engine "{name}" never saw "{text}"', example='engine "a" never saw "key-b"')
def _(world: World, name: str, text: str) -> None:
    """Neither in a header nor in a body, whoever asked."""
    for request in world.mock(name).journal.requests():
        values = [value for value in request.headers.values() if text in value]
        if values or text.encode() in request.body:
            raise BrokenPromise(f"engine {name!r} saw {text!r} in a request to {request.path}")
