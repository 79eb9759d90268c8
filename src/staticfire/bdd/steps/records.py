"""Steps of a service's record: written by many, by an older program, too late."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
from dataclasses import replace

from staticfire.bdd.step import given, then, when
from staticfire.bdd.steps.services import room, service
from staticfire.bdd.world import World
from staticfire.clock import current, ns
from staticfire.clock.virtual import VirtualClock
from staticfire.errors import BrokenPromise, WrongStep
from staticfire.readiness import Evidence, Verdict
from staticfire.services.check import Keeper
from staticfire.services.service import Service

WRITER = """
import sys
from dataclasses import replace
from pathlib import Path
from staticfire.services.home import Home
from staticfire.services.store import Store

how = {
    "waiter": lambda s: replace(s, life=replace(s.life, io=s.life.io + 1)),
    "lister": lambda s: replace(s, readiness=replace(s.readiness, passes=s.readiness.passes + 1)),
    "supervisor": lambda s: replace(s, restarts=s.restarts + 1, streak=s.streak + 1),
}[sys.argv[2]]
store = Store(Home(Path(sys.argv[1])))
print("ready", flush=True)
sys.stdin.readline()
for _ in range(int(sys.argv[4])):
    store.change(sys.argv[3], how)
"""
"""Each changes what is its own to change, in a process of its own."""

NEWER = "of_a_newer_program"
SINCE = ("patience", "streak", "lease", "history", "key_env", "key_file", "given_up")
"""Fields of a record that an older program did not write."""


@when(
    'a waiter, a lister and a supervisor write to service "{name}" {count:d} times each',
    example='a waiter, a lister and a supervisor write to service "a" 1000 times each',
)
async def _(world: World, name: str, count: int) -> None:
    """Three processes at once."""
    here, pipe = room(world), asyncio.subprocess.PIPE
    world.facts["before the writes"] = _counts(service(world, name))
    writers = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", WRITER, str(here.store.home.path), who, name, str(count),
            stdin=pipe, stdout=pipe,
        )
        for who in ("waiter", "lister", "supervisor")
    ]  # fmt: skip
    for writer in writers:
        assert writer.stdout is not None
        await writer.stdout.readline()
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write(b"\n")
    codes = [await asyncio.wait_for(writer.wait(), 60) for writer in writers]
    if any(codes):
        raise BrokenPromise(f"expected each write to be made; the writers ended with {codes}")
    world.facts["writes"] = count


@then('no write to service "{name}" is lost', example='no write to service "a" is lost')
async def _(world: World, name: str) -> None:
    """Its record has every change of each of the three."""
    before, after = world.facts["before the writes"], _counts(service(world, name))
    found = [b - a for a, b in zip(before, after, strict=True)]
    if set(found) != {world.facts["writes"]}:
        raise BrokenPromise(f"expected {world.facts['writes']} writes of each, found {found}")


def _counts(one: Service) -> tuple[int, ...]:
    return one.life.io, one.readiness.passes, one.restarts


@given(
    'the record of service "{name}" is of an older program, with a field of a newer one',
    example='the record of service "a" is of an older program, with a field of a newer one',
)
async def _(world: World, name: str) -> None:
    """What an older one did not write is missing; one field more is there, which nobody knows."""
    file = sqlite3.connect(room(world).store.home.store, isolation_level=None)
    try:
        (text,) = file.execute("SELECT doc FROM services WHERE name = ?", (name,)).fetchone()
        page = json.loads(text)
        for field in SINCE:
            page.pop(field, None)
        del page["life"]["smoked"]
        page[NEWER] = {"colour": "green"}
        file.execute("UPDATE services SET doc = ? WHERE name = ?", (json.dumps(page), name))
    finally:
        file.close()


@then(
    'the record of service "{name}" has kept the field of the newer one',
    example='the record of service "a" has kept the field of the newer one',
)
async def _(world: World, name: str) -> None:
    """As it was, after all that was written since."""
    file = sqlite3.connect(room(world).store.home.store, isolation_level=None)
    try:
        (text,) = file.execute("SELECT doc FROM services WHERE name = ?", (name,)).fetchone()
    finally:
        file.close()
    if json.loads(text).get(NEWER) != {"colour": "green"}:
        raise BrokenPromise(f"expected the field {NEWER} as it was; the record is {text}")


@when(
    'a prober of its life before writes that service "{name}" serves',
    example='a prober of its life before writes that service "a" serves',
)
async def _(world: World, name: str) -> None:
    """It read the record before the restart, and was answered before it; it writes only now."""
    here = room(world)
    before = here.before[name]
    keeper = Keeper(here.store, before, before.patience.settings().limits)
    generation = before.readiness.generation
    keeper.observe(Evidence(Verdict.SERVING, current().now(), generation, "chat answered 200"))


@when("the clock on the wall goes back an hour", example="the clock on the wall goes back an hour")
async def _(world: World) -> None:
    """Somebody sets it: dates are an hour earlier from now on, and time passes as before."""
    if not isinstance(world.loop.clock, VirtualClock):
        raise WrongStep("the clock of this machine is nobody's to set; virtual time has one")
    world.loop.clock.set_wall(-3600)


@when('the window of service "{name}" opens', example='the window of service "a" opens')
async def _(world: World, name: str) -> None:
    """As 15 seconds later: its last probe lies so much further back."""

    def earlier(one: Service) -> Service:
        record = one.readiness
        assert record.attempt_at is not None
        assert record.next_probe is not None
        by = ns(one.patience.throttle)
        moved = replace(
            record, attempt_at=record.attempt_at - by, next_probe=record.next_probe - by
        )
        return replace(one, readiness=moved)

    room(world).store.change(name, earlier)
