"""Steps of prefill and decode legs: engines with a role, a router that pairs them."""

from __future__ import annotations

import json
from typing import Any

from staticfire.bdd.step import given, then
from staticfire.bdd.steps.engines import CHAT, requests
from staticfire.bdd.world import MODEL, World
from staticfire.engine import Script, phrases
from staticfire.errors import BrokenPromise, WrongStep
from staticfire.judge import PROMPT

DIALECTS = {"vLLM": "vllm", "SGLang": "sglang"}
ROLES = ("prefill", "decode")
BOOTSTRAP = 8998
"""The bootstrap port of every SGLang prefill leg here; nobody listens there."""


def dialect(word: str) -> str:
    """The personality of a dialect; raises `WrongStep`."""
    if word not in DIALECTS:
        raise WrongStep(f"legs speak vLLM or SGLang, not {word!r}")
    return DIALECTS[word]


@given(
    'a {word} {role} leg "{name}" that {life}',
    example='a vLLM prefill leg "p" that serves',
)
async def _(world: World, word: str, role: str, name: str, life: str) -> None:
    """A mock engine of that personality with that role."""
    if role not in ROLES:
        raise WrongStep(f"a leg is prefill or decode, not {role!r}")
    personality = dialect(word)
    flags = ("--disaggregation-mode " + role,) if personality == "sglang" else ()
    script = Script(
        model=MODEL, personality=personality, flags=flags, life=phrases.life(life)
    )  # fmt: skip
    await world.mock_engine(name, script)
    world.facts.setdefault("legs", {})[name] = role
    world.facts["dialect"] = personality


@given("the router in front of the legs", example="the router in front of the legs")
async def _(world: World) -> None:
    """Start the router under test with each engine in its role."""
    await front(world, {})


@given("the router in front of the legs, set to", example="the router in front of the legs, set to")
async def _(world: World, datatable: list[list[str]]) -> None:
    """As above; a table of settings by the names of the flags."""
    await front(world, {name.strip(): value.strip() for name, value in datatable})


async def front(world: World, settings: dict[str, Any]) -> None:
    """The settings `prefill` and `decode` are lists of URLs with commas, as `workers` is."""
    legs: dict[str, str] = world.facts.get("legs", {})
    port = f" {BOOTSTRAP}" if world.facts.get("dialect") == "sglang" else ""
    for role, more in zip(ROLES, (port, ""), strict=True):
        urls = [world.engine(name).url + more for name, own in legs.items() if own == role]
        settings[role] = ", ".join(urls)
    await world.start_router({"pd_disaggregation": world.facts.get("dialect", "vllm"), **settings})


def bodies(world: World, name: str) -> list[dict[str, Any]]:
    """The chat requests of the scenario's clients as a leg got them."""
    mine = [r for r in requests(world.mock(name), CHAT) if PROMPT.encode() in r.body]
    if not mine:
        raise BrokenPromise(f"expected a client's request at engine {name!r}, it got none")
    return [json.loads(request.body) for request in mine]


@then(
    'engine "{decode}" was told where the cache of engine "{prefill}" lies',
    example='engine "d" was told where the cache of engine "p" lies',
)
def _(world: World, decode: str, prefill: str) -> None:
    """The prefill leg's own words about its cache reached the decode leg: vLLM's way."""
    said = bodies(world, decode)[-1].get("kv_transfer_params")
    holder = said.get("remote_engine_id", "") if isinstance(said, dict) else ""
    if not str(holder).startswith(f"{prefill}-"):
        raise BrokenPromise(
            f"expected engine {decode!r} to get the words of engine {prefill!r}; it got {said!r}"
        )


@then(
    'engine "{name}" was asked to make {count:d} token for another leg',
    example='engine "p" was asked to make 1 token for another leg',
)
def _(world: World, name: str, count: int) -> None:
    """A prefill leg makes one token, in one piece, and keeps its cache: vLLM's way."""
    asked = bodies(world, name)[-1]
    params = asked.get("kv_transfer_params")
    kept = isinstance(params, dict) and params.get("do_remote_decode") is True
    if asked.get("max_tokens") != count or asked.get("stream") or not kept:
        raise BrokenPromise(f"expected {count} token, no stream, its cache kept; came: {asked}")


@then(
    'engines "{one}" and "{other}" met in one room',
    example='engines "p" and "d" met in one room',
)
def _(world: World, one: str, other: str) -> None:
    """Both got the same request, with one room and the prefill leg's port: SGLang's way."""
    both = [bodies(world, name)[-1] for name in (one, other)]
    host, port, room = (
        {json.dumps(body.get(f"bootstrap_{word}")) for body in both}
        for word in ("host", "port", "room")
    )
    if (
        both[0] != both[1]
        or (host, port) != ({'"127.0.0.1"'}, {str(BOOTSTRAP)})
        or room == {"null"}
    ):
        raise BrokenPromise(f"expected one room for both; came: {both[0]} and {both[1]}")
