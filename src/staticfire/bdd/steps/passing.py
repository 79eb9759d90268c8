"""Steps of the way through a router: failures that show, clients byte by byte, a router that drains."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from itertools import pairwise
from typing import Any

from staticfire.bdd.raw_engine import read_play
from staticfire.bdd.step import then, when
from staticfire.bdd.steps.answers import promise
from staticfire.bdd.steps.engines import CHAT, requests
from staticfire.bdd.world import World
from staticfire.clock import NS
from staticfire.errors import BrokenPromise, WrongStep
from staticfire.judge import PROMPT, End, Judge

SILENCE = 300.0
"""Seconds after which a raw client no longer waits for bytes."""


@then(
    "the last {count:d} answers took at most {seconds:g} seconds",
    example="the last 2 answers took at most 1 seconds",
)
def _(world: World, count: int, seconds: float) -> None:
    """Each of the newest answers came soon enough."""
    last = world.answers[-count:]
    slow = [answer for answer in last if answer.took > seconds]
    promise(len(last) == count and not slow, f"answers within {seconds:g} s", slow or last)


@then(
    "the body came piece by piece, {seconds:g} seconds apart",
    example="the body came piece by piece, 3 seconds apart",
)
def _(world: World, seconds: float) -> None:
    """Whatever was held back would have come together."""
    times = sorted({at for at, _ in world.answer.pieces})
    gaps = {round((b - a) / NS, 3) for a, b in pairwise(times)}
    kept = bool(gaps) and all(world.near(gap, seconds) for gap in gaps)
    promise(kept, f"a piece every {seconds:g} s (gaps {gaps})", world.answer)


@when("a raw client sends the router", example="a raw client sends the router")
async def _(world: World, docstring: str) -> None:
    """These bytes, a write a line: ¶ is CRLF, `[0.5 s]` waits, `[close]` ends, `[reset]` cuts."""
    host, _, port = world.front.removeprefix("http://").rpartition(":")
    heard = bytearray()
    started = world.seconds
    world.facts["heard"], world.facts["heard ended"] = b"", 0.0
    try:
        reader, writer = await asyncio.open_connection(host, int(port))
    except ConnectionError:
        return  # nobody listens: nothing is heard

    async def listen() -> None:
        with suppress(ConnectionError, TimeoutError):
            while True:
                async with asyncio.timeout(SILENCE):
                    data = await reader.read(1 << 16)
                if not data:
                    break
                heard.extend(data)
            world.facts["heard ended"] = world.seconds - started

    world.facts.pop("heard ended", None)
    listening = asyncio.ensure_future(listen())
    for part in read_play(docstring):
        if isinstance(part, bytes):
            with suppress(ConnectionError):
                writer.write(part)
                await writer.drain()
        elif isinstance(part, float):
            await asyncio.sleep(part)
        elif part == "[close]":
            writer.close()
        elif part == "[reset]":
            writer.transport.abort()
        else:
            raise WrongStep(f"a raw client cannot {part}")
    await listening
    writer.close()
    await asyncio.sleep(0)
    world.facts["heard"] = bytes(heard)


@then(
    "the raw client is answered {statuses} and the connection is {state}",
    example="the raw client is answered 400 and the connection is closed",
)
def _(world: World, statuses: str, state: str) -> None:
    """The statuses of the answers in their order, or nothing; closed or left open."""
    if state not in ("closed", "left open"):
        raise WrongStep(f"a connection is closed or left open, not {state!r}")
    heard: bytes = world.facts["heard"]
    found = ", ".join(one.decode() for one in re.findall(rb"HTTP/1\.1 (\d\d\d)[ \r]", heard))
    ended = "closed" if "heard ended" in world.facts else "left open"
    if (found or "nothing", ended) != (statuses, state):
        raise BrokenPromise(
            f"expected the answers {statuses} and a connection that is {state}; came "
            f"{found or 'nothing'}, and it is {ended}: {heard[:900]!r}"
        )


@then(
    "the raw client's connection ended after {seconds:g} seconds",
    example="the raw client's connection ended after 20 seconds",
)
def _(world: World, seconds: float) -> None:
    """From the connect to the end; to the millisecond in virtual time."""
    found = world.facts.get("heard ended")
    if found is None or not world.near(found, seconds):
        raise BrokenPromise(f"expected an end after {seconds:g} s, it came after {found} s")


@when("the router drains", example="the router drains")
async def _(world: World) -> None:
    """What SIGTERM does: begin it, and go on."""
    router: Any = world.router
    if not hasattr(router, "drain"):
        raise WrongStep("this router cannot be told to drain")
    task = world.facts["draining"] = asyncio.ensure_future(router.drain())

    async def end() -> None:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    world.defer(end)
    await asyncio.sleep(0.001)


@then("the router has stopped", example="the router has stopped")
async def _(world: World) -> None:
    """The drain has ended, and nobody listens."""
    answer = await Judge(world.front).ask("GET", "/liveness", deadline=5.0)
    if answer.end is not End.REFUSED or not world.facts["draining"].done():
        raise BrokenPromise(f"expected a router that has stopped; it says {answer}")


@then("the router still drains", example="the router still drains")
def _(world: World) -> None:
    """The drain has not ended: something is still under way."""
    if world.facts["draining"].done():
        raise BrokenPromise("expected a router that still drains; it has stopped")


@then(
    'the router counted {count:d} streams as "{outcome}"',
    example='the router counted 1 streams as "idle_timeout"',
)
async def _(world: World, count: int, outcome: str) -> None:
    """How streams ended, over all workers: ok, stream_error_event, upstream_error, idle_timeout …"""
    page = (await Judge(world.front).ask("GET", "/metrics")).body.decode()
    pattern = re.compile(
        rf'^staticfire_worker_streams_total\{{[^}}]*outcome="{outcome}"[^}}]*\}} (\S+)$',
        re.MULTILINE,
    )
    found = sum(int(float(value)) for value in pattern.findall(page))
    if found != count:
        lines = [line for line in page.splitlines() if line.startswith("staticfire_worker_streams")]
        raise BrokenPromise(
            f"expected {count} streams {outcome}, the metric says {found}:\n  " + "\n  ".join(lines)
        )


@then("{count:d} requests reached the engines", example="1 requests reached the engines")
def _(world: World, count: int) -> None:
    """How many chat requests of clients all engines got together, probes left out."""
    found = {name: len(of_clients(world, name)) for name in world.engines}
    if sum(found.values()) != count:
        raise BrokenPromise(f"expected {count} requests at all engines together, found {found}")


def of_clients(world: World, name: str) -> list[Any]:
    """The chat requests of clients that an engine got."""
    return [r for r in requests(world.mock(name), CHAT) if PROMPT.encode() in r.body]
