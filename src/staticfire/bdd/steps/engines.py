"""Steps that set engines up, and what they saw."""

from __future__ import annotations

import asyncio

import pytest

from staticfire.bdd.step import given, then, when
from staticfire.bdd.world import MODEL, ROUGHLY, World
from staticfire.clock import NS
from staticfire.engine import MockEngine, Refuses, Script, Serving, phrases
from staticfire.engine.journal import Request
from staticfire.errors import BrokenPromise
from staticfire.judge import PROMPT

CHAT = "POST /v1/chat/completions"


def requests(engine: MockEngine, on: str) -> tuple[Request, ...]:
    """The requests that an engine got on a route."""
    return engine.journal.requests(on=on)


@given('an engine "{name}" that {life}', example='an engine "late" that refuses for 12 seconds')
async def _(world: World, name: str, life: str) -> None:
    """An engine and its life; after the last phase it serves.

    Every lane has engines that serve; some have one that takes seconds to load, or one that lists a
    model that it has not loaded; only mock engines do more.
    """
    if life == "serves":
        await world.lane_engine(name)
        return
    slowly = {
        "takes seconds to load": world.loading_engine,
        "lists a model that it has not loaded": world.unloaded_engine,
    }.get(life)
    if slowly is not None:
        why = world.lane.too_small()
        if why is not None:
            pytest.skip(why)
        await slowly(name)
        return
    script = Script(
        model=MODEL,
        personality=world.lane.personality,
        life=phrases.life(life),
    )
    await world.mock_engine(name, script)


@given("{count:d} engines that serve", example="3 engines that serve")
async def _(world: World, count: int) -> None:
    """Engines e00, e01 … that serve at once."""
    for number in range(count):
        await world.lane_engine(f"e{number:02}")


@given(
    "{count:d} engines, of which {early:d} serve at once and the last after {late:g} seconds",
    example="16 engines, of which 2 serve at once and the last after 172 seconds",
)
async def _(world: World, count: int, early: int, late: float) -> None:
    """A fleet: the late ones bind one after the other, at even distances, the last at its time."""
    for number in range(count):
        wait = late * (number - early + 1) / (count - early)
        life = [Refuses(seconds=wait), Serving()] if number >= early else [Serving()]
        await world.mock_engine(f"e{number:02}", Script(model=MODEL, life=life))


@given(
    '{count:d} engines of model "{model}", the last after {late:g} seconds',
    example='2 engines of model "llama", the last after 30 seconds',
)
async def _(world: World, count: int, model: str, late: float) -> None:
    """Engines of one model, named after it: all serve at once but the last."""
    for number in range(count):
        last = number == count - 1
        life = [Refuses(seconds=late), Serving()] if last else [Serving()]
        await world.mock_engine(f"{model}{number}", Script(model=model, life=life))


@given('engine "{name}" {does}', example='engine "a" answers chat with 503 for 3 requests')
@when('engine "{name}" {does}', example='engine "a" answers chat with 503 for 3 requests')
def _(world: World, name: str, does: str) -> None:
    """What an engine does from now on, with some requests, for a time, or for ever."""
    add_rule(world, name, does)


def add_rule(world: World, name: str, does: str) -> None:
    """Add a rule in the words of a phrase."""
    engine = world.mock(name)
    rule = phrases.rule(does)

    async def add() -> None:
        engine.add_rule(rule)

    world.run(add())


@when(
    'the next chat answers of engine "{name}" are {statuses}',
    example='the next chat answers of engine "a" are 500, 503, 500',
)
async def _(world: World, name: str, statuses: str) -> None:
    """One status after the other, then honestly again."""
    for status in reversed(statuses.split(",")):
        rule = phrases.rule(f"answers chat with {status.strip()} for 1 request")
        world.mock(name).add_rule(rule)


@when('the process of engine "{name}" dies', example='the process of engine "a" dies')
async def _(world: World, name: str) -> None:
    """Its process is gone: connections end, connects are refused."""
    world.mock(name).kill()


@when(
    'the process of engine "{name}" starts again', example='the process of engine "a" starts again'
)
async def _(world: World, name: str) -> None:
    """A new life on the same port."""
    world.mock(name).restart()


@when('hold "{hold}" of engine "{name}" is set', example='hold "first token" of engine "a" is set')
async def _(world: World, name: str, hold: str) -> None:
    """Answers park at that place: head, first token, token or end."""
    world.mock(name).hold(hold)


@when(
    '{count:d} answers wait at hold "{hold}" of engine "{name}"',
    example='1 answers wait at hold "first token" of engine "a"',
)
async def _(world: World, name: str, count: int, hold: str) -> None:
    """Wait until so many requests are parked at a hold."""
    await world.mock(name).hold(hold).arrived(count)


@when(
    'hold "{hold}" of engine "{name}" is released', example='hold "head" of engine "a" is released'
)
async def _(world: World, name: str, hold: str) -> None:
    """Let what is parked go on."""
    world.mock(name).hold(hold).release()
    await asyncio.sleep(0)


@then('engine "{name}" got {count:d} chat requests', example='engine "a" got 3 chat requests')
def _(world: World, name: str, count: int) -> None:
    """How many chat requests reached an engine, probes included."""
    got(world, name, count, len(requests(world.mock(name), CHAT)))


@then(
    'engine "{name}" got {count:d} requests from clients',
    example='engine "a" got 3 requests from clients',
)
def _(world: World, name: str, count: int) -> None:
    """How many chat requests of the scenario's clients reached an engine, probes left out."""
    mine = [r for r in requests(world.mock(name), CHAT) if PROMPT.encode() in r.body]
    got(world, name, count, len(mine))


def got(world: World, name: str, expected: int, found: int) -> None:
    """Hold the promise of a number of requests."""
    if found != expected:
        raise BrokenPromise(
            f"expected {expected} requests at engine {name!r}, it got {found}: "
            f"{'some were kept away from it' if found < expected else 'it was sent more'}; "
            f"the last answer: {world.answers[-1] if world.answers else 'none'}"
        )


@then('engine "{name}" saw exactly', example='engine "a" saw exactly')
def _(world: World, name: str, docstring: str) -> None:
    """Its requests line by line: time, method and path, status; `…` stands for a silent one."""
    lines = [
        f"{world.since_start(r.at):g} s {r.method} {r.path} {r.status or '…'}"
        for r in world.mock(name).journal.requests()
    ]
    expected = [" ".join(line.split()) for line in docstring.strip().splitlines()]
    if lines != expected:
        raise BrokenPromise(
            "the journal differs; expected:\n  "
            + "\n  ".join(expected)
            + "\nfound:\n  "
            + "\n  ".join(lines)
        )


@then(
    'engine "{name}" saw its client leave after {seconds:g} seconds',
    example='engine "a" saw its client leave after 1 seconds',
)
async def _(world: World, name: str, seconds: float) -> None:
    """The last chat request's connection was ended by its client, so long after it came."""
    engine = world.mock(name)
    asked = requests(engine, CHAT)
    if not asked:
        raise BrokenPromise(f"expected a client of engine {name!r} to leave; it got no request")
    last = asked[-1]

    def left_after() -> list[float]:
        return [
            (row.at - last.at) / NS
            for row in engine.journal.rows
            if row.connection == last.connection and row.what == "client left"
        ]

    due = world.seconds + ROUGHLY
    while not world.exact and not left_after() and world.seconds < due:  # noqa: ASYNC110 - another process closes it
        await asyncio.sleep(0.1)
    left = left_after()
    if len(left) != 1 or not world.near(left[0], seconds):
        raise BrokenPromise(
            f"expected the client of engine {name!r} to leave after {seconds:g} s; it left after "
            f"{left or 'never'} s, and the request is {last.ended}"
        )


@then(
    'engine "{name}" made {count:d} tokens after its client left',
    example='engine "a" made 5 tokens after its client left',
)
def _(world: World, name: str, count: int) -> None:
    """How long the last chat request's generation went on for nobody."""
    last = world.mock(name).journal.requests(on=CHAT)[-1]
    if (last.ended, last.tokens_after) != ("client left", count):
        raise BrokenPromise(
            f"expected engine {name!r} to make {count} tokens after its client left; it made "
            f"{last.tokens} in all, {last.tokens_after} of them later, and the request is {last.ended}"
        )


@then('engine "{name}" got no request', example='engine "a" got no request')
def _(world: World, name: str) -> None:
    """Nobody asked it anything."""
    found = [f"{r.method} {r.path}" for r in world.mock(name).journal.requests()]
    if found:
        raise BrokenPromise(f"expected no request at engine {name!r}; it got {', '.join(found)}")
