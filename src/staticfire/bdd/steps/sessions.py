"""Steps of many sessions: who holds them, whether they stay."""

from __future__ import annotations

import asyncio
from collections import Counter

from staticfire.bdd.step import then, when
from staticfire.bdd.steps.engines import CHAT, requests
from staticfire.bdd.world import MODEL, World
from staticfire.engine import MockEngine
from staticfire.engine.invariants import session_of
from staticfire.errors import BrokenPromise


@when(
    "{count:d} sessions send {each:d} requests each",
    example="335 sessions send 5 requests each",
)
async def _(world: World, count: int, each: int) -> None:
    """Sessions side by side, each on a connection of its own, its requests one after another."""
    await run_sessions(world, "s", count, each, MODEL)


@when(
    '{count:d} new sessions "{prefix}" send {each:d} requests each for model "{model}"',
    example='8 new sessions "n" send 1 requests each for model "llama"',
)
async def _(world: World, count: int, prefix: str, each: int, model: str) -> None:
    """Sessions whose names start with the prefix, for one model."""
    await run_sessions(world, prefix, count, each, model)


async def run_sessions(world: World, prefix: str, count: int, each: int, model: str) -> None:
    """Run the sessions to their ends."""

    async def session(name: str) -> None:
        client = world.judge()
        connection = client.connection()
        for _ in range(each):
            connection = connection if connection.usable else client.connection()
            await client.chat(model, session=name, on=connection, max_tokens=2)
        connection.close()

    async with asyncio.TaskGroup() as group:
        for number in range(count):
            name = f"{prefix}{number:03}"
            group.create_task(session(name), name=f"session {name}")


def holders(world: World, prefix: str = "") -> dict[str, set[str]]:
    """The sessions that each mock engine saw."""
    return {
        name: {
            session
            for request in requests(engine, CHAT)
            if (session := session_of(request)) and session.startswith(prefix)
        }
        for name, engine in world.engines.items()
        if isinstance(engine, MockEngine)
    }


def check_spread(spread: dict[str, int], allowed: set[int], what: str) -> None:
    """Hold the promise that each engine has one of the allowed numbers."""
    wrong = {name: count for name, count in spread.items() if count not in allowed}
    if wrong:
        raise BrokenPromise(f"expected {what}; found: {dict(sorted(Counter(spread).items()))}")


@then(
    "the {early:d} early engines hold all {count:d} sessions, {low:d} or {high:d} each",
    example="the 2 early engines hold all 335 sessions, 167 or 168 each",
)
def _(world: World, early: int, count: int, low: int, high: int) -> None:
    """Nobody else got any."""
    spread = {name: len(sessions) for name, sessions in holders(world).items()}
    first = dict(list(spread.items())[:early])
    check_spread(first, {low, high}, f"{low} or {high} sessions on each early engine")
    if sum(first.values()) != count or sum(spread.values()) != count:
        raise BrokenPromise(f"expected {count} sessions on the early engines; found: {spread}")


@then(
    "no engine holds more than {count:d} sessions", example="no engine holds more than 42 sessions"
)
def _(world: World, count: int) -> None:
    """Where the exact spread is the router's own affair."""
    found = {name: len(held) for name, held in holders(world).items()}
    if not any(found.values()) or max(found.values()) > count:
        raise BrokenPromise(f"expected at most {count} sessions on an engine; found: {found}")


@then(
    "every engine holds {low:d} or {high:d} sessions",
    example="every engine holds 20 or 21 sessions",
)
def _(world: World, low: int, high: int) -> None:
    """An even spread, all engines counted."""
    spread = {name: len(sessions) for name, sessions in holders(world).items()}
    check_spread(spread, {low, high}, f"{low} or {high} sessions on every engine")


@then(
    'engine "{name}" holds {count:d} of the sessions "{prefix}"',
    example='engine "late" holds 8 of the sessions "n"',
)
def _(world: World, name: str, count: int, prefix: str) -> None:
    """How many sessions of a prefix an engine saw."""
    found = len(holders(world, prefix)[name])
    if found != count:
        raise BrokenPromise(f"expected {count} sessions {prefix!r} on {name!r}, found {found}")


@then("every session stays on one engine", example="every session stays on one engine")
def _(world: World) -> None:
    """No session was seen by two engines."""
    seen = Counter(session for sessions in holders(world).values() for session in sessions)
    moved = sorted(session for session, engines in seen.items() if engines > 1)
    if moved or not seen:
        raise BrokenPromise(f"sessions that moved: {', '.join(moved) or 'none were seen at all'}")
