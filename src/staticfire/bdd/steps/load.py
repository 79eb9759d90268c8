"""Steps of load: sessions that keep engines busy, and what the engines' metrics show of it.

The engines of these steps have the capacity of `ENGINE`. A session's prompt has 5,000 tokens and
its answers 300 to 400, so a request begins with 79 blocks of 64 tokens and ends with at most 85.
9,800 blocks hold about 119 such requests: 167 sessions on one engine fill it, and over 40 of them
wait; 21 sessions use at most 18 % of it. No request needs 1 % of the blocks, so that an engine
with a queue is never under 99 %.
"""

from __future__ import annotations

import asyncio
import random
import re
from dataclasses import replace
from typing import Any, NamedTuple

from staticfire.bdd.step import given, then, when
from staticfire.bdd.world import MODEL, World
from staticfire.engine import Capacity, MockEngine, Refuses, Script, Serving
from staticfire.errors import BrokenPromise, WrongStep
from staticfire.judge import Judge
from staticfire.stand.seeds import derive

ENGINE = Capacity(slots=256, block_size=64, first_token=0.5, per_token=0.1)
"""Ten tokens a second for each request, whatever the batch."""
PROMPT_TOKENS = 5_000
ANSWER_TOKENS = (300, 400)
THINKS = (0.1, 0.5)
"""Seconds between a session's answer and its next request."""
EVERY, WATCHED = 5.0, 30.0
"""Seconds between two looks at the metrics, which are watched for the last so many seconds."""
DEADLINE = 600.0

METRICS = {
    "running": r"vllm:num_requests_running\{.*\} (\S+)",
    "waiting": r"vllm:num_requests_waiting\{.*\} (\S+)",
    "KV": r"vllm:kv_cache_usage_perc\{.*\} (\S+)",
    "preemptions": r"vllm:num_preemptions_total\{.*\} (\S+)",
}


class Look(NamedTuple):
    """What one engine's metrics showed at one time, in seconds of the scenario."""

    at: float
    engine: str
    values: dict[str, float]


@given(
    "{count:d} engines of {blocks:d} KV blocks, of which {early:d} serve at once and the last "
    "after {late:g} seconds",
    example="16 engines of 9800 KV blocks, of which 2 serve at once and the last after 172 seconds",
)
async def _(world: World, count: int, blocks: int, early: int, late: float) -> None:
    """A fleet whose cache is simulated; the late ones bind one after the other, evenly."""
    capacity = replace(ENGINE, blocks=blocks)
    for number in range(count):
        wait = late * (number - early + 1) / (count - early)
        life = [Refuses(seconds=wait), Serving()] if number >= early else [Serving()]
        script = Script(model=MODEL, life=life, capacity=capacity, tokens=ANSWER_TOKENS[1])
        await world.mock_engine(f"e{number:02}", script)


@when(
    "{count:d} sessions begin within {spread:g} seconds and keep asking for {lasting:g} seconds",
    example="335 sessions begin within 10 seconds and keep asking for 200 seconds",
)
async def _(world: World, count: int, spread: float, lasting: float) -> None:
    """Each has a prompt of its own and asks again a moment after each answer; metrics are watched."""
    until = asyncio.get_running_loop().time() + lasting
    watch = asyncio.create_task(look_around(world, until), name="metrics")
    async with asyncio.TaskGroup() as group:
        for number in range(count):
            name, wait = f"s{number:03}", spread * number / count
            group.create_task(session(world, name, wait, until), name=f"session {name}")
    world.facts["looks"] = await watch


async def session(world: World, name: str, wait: float, until: float) -> None:
    """One session: its requests one after another on one connection, until the time is over."""
    chance = random.Random(derive(world.seed, name))
    client = world.judge()
    prompt = f"I am session {name}. ".ljust(PROMPT_TOKENS - 18, ".")  # 18 are the template's
    await asyncio.sleep(wait)
    connection = client.connection()
    while asyncio.get_running_loop().time() < until:
        connection = connection if connection.usable else client.connection()
        limit = chance.randint(*ANSWER_TOKENS)
        await client.chat(
            MODEL, session=name, on=connection, max_tokens=limit, prompt=prompt, deadline=DEADLINE
        )
        await asyncio.sleep(chance.uniform(*THINKS))
    connection.close()


async def look_around(world: World, until: float) -> list[Look]:
    """The metrics of every mock engine that answers, every few seconds towards the end."""
    looks: list[Look] = []
    await asyncio.sleep(until - WATCHED - asyncio.get_running_loop().time())
    while asyncio.get_running_loop().time() < until:
        for name, engine in world.engines.items():
            if not isinstance(engine, MockEngine) or not engine.open:
                continue
            page = (await Judge(engine.url).ask("GET", "/metrics")).body.decode()
            looks.append(Look(world.seconds, name, read(page)))
        await asyncio.sleep(EVERY)
    return looks


def read(page: str) -> dict[str, float]:
    """The values of a metrics page by their short names."""
    found = {name: re.search(f"^{line}$", page, re.MULTILINE) for name, line in METRICS.items()}
    return {name: float(line[1]) for name, line in found.items() if line}


@then(
    "in the last {lasting:g} seconds the metrics of the {count:d} {which} engines show",
    example="in the last 20 seconds the metrics of the 2 early engines show",
)
def _(world: World, lasting: float, count: int, which: str, datatable: list[list[str]]) -> None:
    """A table of metric, least and most; at every look, on every one of the first or last engines."""
    names = list(world.engines)
    chosen = {"early": names[:count], "late": names[-count:]}
    if which not in chosen:
        raise WrongStep(f"engines are early or late, not {which!r}")
    hold(world, lasting, chosen[which], datatable)


@then(
    "in the last {lasting:g} seconds the metrics of every engine show",
    example="in the last 20 seconds the metrics of every engine show",
)
def _(world: World, lasting: float, datatable: list[list[str]]) -> None:
    """The same for all engines."""
    hold(world, lasting, list(world.engines), datatable)


def hold(world: World, lasting: float, names: list[str], table: list[list[str]]) -> None:
    """Hold the promise of a table of metric, least and most."""
    looks: list[Look] = world.facts["looks"]
    end = max(look.at for look in looks)
    seen = [look for look in looks if look.at > end - lasting and look.engine in names]
    missing = sorted(set(names) - {look.engine for look in seen})
    if missing:
        raise BrokenPromise(f"no metrics of {', '.join(missing)} in the last {lasting:g} s")
    for row in table[1:]:
        metric, least, most = (cell.strip() for cell in row)
        if metric not in METRICS:
            raise WrongStep(f"no metric {metric!r}; one of {', '.join(METRICS)}")
        low, high = _bound(least, float("-inf")), _bound(most, float("inf"))
        for look in seen:
            if not low <= look.values[metric] <= high:
                raise BrokenPromise(_told(metric, least, most, look, seen))


def _bound(text: str, default: float) -> float:
    """A number, a share in percent, or nothing."""
    if not text:
        return default
    return float(text.removesuffix("%")) / 100 if text.endswith("%") else float(text)


def _told(metric: str, least: str, most: str, look: Look, seen: list[Look]) -> str:
    values = sorted(each.values[metric] for each in seen)
    rest: dict[str, Any] = {key: round(value, 4) for key, value in look.values.items()}
    return (
        f"expected {metric} from {least or 'anything'} to {most or 'anything'}; at {look.at:g} s "
        f"engine {look.engine!r} had {rest}; the {len(seen)} looks go from {values[0]:g} to "
        f"{values[-1]:g}"
    )
