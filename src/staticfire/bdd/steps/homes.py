"""Steps of homes: which engine a session or a prompt belongs to, and who gets how much."""

from __future__ import annotations

import asyncio

from staticfire.bdd.step import then, when
from staticfire.bdd.steps.client import ask, streams
from staticfire.bdd.steps.engines import CHAT, add_rule, requests
from staticfire.bdd.steps.sessions import holders
from staticfire.bdd.world import MODEL, World
from staticfire.engine import MockEngine
from staticfire.errors import BrokenPromise
from staticfire.judge import PROMPT


def clients_requests(world: World) -> dict[str, int]:
    """How many requests of the scenario's clients each mock engine got."""
    return {
        name: sum(1 for request in requests(engine, CHAT) if PROMPT.encode() in request.body)
        for name, engine in world.engines.items()
        if isinstance(engine, MockEngine)
    }


@when(
    "{count:d} sessions, named in the body only, send {each:d} requests each",
    example="10 sessions, named in the body only, send 3 requests each",
)
async def _(world: World, count: int, each: int) -> None:
    """`session_id` says the session; each request has an id of its own, as a proxy stamps them."""

    async def session(name: str) -> None:
        for _ in range(each):
            await world.judge().chat(MODEL, session_id=name, max_tokens=2)

    await asyncio.gather(*(session(f"s{number:03}") for number in range(count)))


@when(
    "{count:d} sessions send a request each, one after another",
    example="200 sessions send a request each, one after another",
)
async def _(world: World, count: int) -> None:
    """Never two at once, so that no load moves anybody."""
    for number in range(count):
        await world.judge().chat(MODEL, session=f"s{number:03}", max_tokens=2)


@when(
    'session "{name}" sends {count:d} {kind} requests',
    example='session "home" sends 5 JSON requests',
)
async def _(world: World, name: str, count: int, kind: str) -> None:
    """One after another."""
    for _ in range(count):
        await world.judge().chat(MODEL, session=name, stream=streams(kind))


@when(
    'the engine of session "{name}" {does}',
    example='the engine of session "home" answers chat with 500 for 5 requests',
)
def _(world: World, name: str, does: str) -> None:
    """What the engine does that answered the session last; it is the session's home from now on."""
    home = world.facts[f"home of {name}"] = last_engine(world, name)
    add_rule(world, home, does)


@then(
    'session "{name}" was answered by its home', example='session "home" was answered by its home'
)
def _(world: World, name: str) -> None:
    """The last request of the session went to its home."""
    at, home = last_engine(world, name), world.facts[f"home of {name}"]
    if at != home:
        raise BrokenPromise(f"expected session {name!r} at its home {home!r}, it was at {at!r}")


@then(
    'session "{name}" was answered by another engine',
    example='session "home" was answered by another engine',
)
def _(world: World, name: str) -> None:
    """The last request of the session went elsewhere."""
    at = last_engine(world, name)
    if at == world.facts[f"home of {name}"]:
        raise BrokenPromise(f"expected session {name!r} away from its home, it was at {at!r}")


def last_engine(world: World, name: str) -> str:
    """Which mock engine got the last request of a session."""
    seen = [
        (request.at, engine_name)
        for engine_name, engine in world.engines.items()
        if isinstance(engine, MockEngine)
        for request in requests(engine, CHAT)
        if request.session == name
    ]
    if not seen:
        raise BrokenPromise(f"no engine got a request of session {name!r}")
    return max(seen)[1]


@when(
    '{count:d} requests of session "{name}" are sent at once',
    example='40 requests of session "hot" are sent at once',
)
async def _(world: World, count: int, name: str) -> None:
    """One session with many requests at one instant."""
    await asyncio.gather(*(world.judge().chat(MODEL, session=name) for _ in range(count)))


@then(
    'engine "{name}" got at most {count:d} requests from clients',
    example='engine "a" got at most 30 requests from clients',
)
def _(world: World, name: str, count: int) -> None:
    """No more than that, fewer are fine."""
    found = clients_requests(world)[name]
    if found > count:
        raise BrokenPromise(f"expected at most {count} requests at engine {name!r}, found {found}")


@then(
    'engine "{name}" got between {low:d} and {high:d} requests from clients',
    example='engine "a" got between 40 and 46 requests from clients',
)
def _(world: World, name: str, low: int, high: int) -> None:
    """Where the exact number is the router's own affair."""
    found = clients_requests(world)[name]
    if not low <= found <= high:
        raise BrokenPromise(f"expected {low} to {high} requests at engine {name!r}, found {found}")


@then(
    'at most {count:d} sessions moved, all of them to engine "{name}"',
    example='at most 60 sessions moved, all of them to engine "e04"',
)
def _(world: World, count: int, name: str) -> None:
    """Sessions that two engines saw; a ring moves only the share of who joined."""
    held = holders(world)
    seen = [session for sessions in held.values() for session in sessions]
    moved = {session for session in seen if seen.count(session) > 1}
    if len(moved) > count or not moved <= held[name]:
        raise BrokenPromise(
            f"expected at most {count} sessions to move, to {name!r} only; {len(moved)} moved, "
            f"{len(moved - held[name])} of them elsewhere"
        )


@when(
    "{count:d} {kind} requests are sent, {at_once:d} at a time",
    example="100 JSON requests are sent, 10 at a time",
)
async def _(world: World, count: int, kind: str, at_once: int) -> None:
    """So many clients, each of which sends its next request when it was answered."""

    async def client(mine: int) -> None:
        for _ in range(mine):
            await ask(world, kind)

    each, over = divmod(count, at_once)
    await asyncio.gather(*(client(each + (number < over)) for number in range(at_once)))


@then(
    "no engine got more than {count:d} requests from clients",
    example="no engine got more than 40 requests from clients",
)
def _(world: World, count: int) -> None:
    """Whoever got the most."""
    found = clients_requests(world)
    if max(found.values()) > count:
        raise BrokenPromise(f"expected at most {count} requests at each engine, found {found}")


@then(
    "every engine got {count:d} requests from clients",
    example="every engine got 4 requests from clients",
)
def _(world: World, count: int) -> None:
    """Exactly so many at each."""
    found = clients_requests(world)
    if set(found.values()) != {count}:
        raise BrokenPromise(f"expected {count} requests at each engine, found {found}")


@then(
    "every engine got at least {count:d} requests from clients",
    example="every engine got at least 1 requests from clients",
)
def _(world: World, count: int) -> None:
    """Nobody is left out."""
    found = clients_requests(world)
    if min(found.values()) < count:
        raise BrokenPromise(f"expected at least {count} requests at each engine, found {found}")


@when(
    "{count:d} users talk for {turns:d} turns each",
    example="8 users talk for 5 turns each",
)
async def _(world: World, count: int, turns: int) -> None:
    """Conversations without a session: each turn begins with all the turns before it."""

    async def user(number: int) -> None:
        said = f"{PROMPT} I am user {number}. " * 10
        for turn in range(turns):
            await world.judge().chat(MODEL, prompt=said, max_tokens=2)
            said += f"And now for turn {turn} of user {number}. "

    await asyncio.gather(*(user(number) for number in range(count)))


@then("every user stays on one engine", example="every user stays on one engine")
def _(world: World) -> None:
    """Each conversation was seen by one engine only: there its prefix is cached."""
    homes: dict[bytes, set[str]] = {}
    for name, engine in world.engines.items():
        if isinstance(engine, MockEngine):
            for request in requests(engine, CHAT):
                _, found, rest = request.body.partition(b"I am user ")
                if found:
                    homes.setdefault(rest.partition(b".")[0], set()).add(name)
    wandered = sorted(user.decode() for user, engines in homes.items() if len(engines) > 1)
    if wandered or not homes:
        raise BrokenPromise(f"users that were seen by several: {wandered or 'none at all'}")
