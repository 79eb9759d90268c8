"""Steps of whole fleets: groups of engines, what must hold of all of them."""

from __future__ import annotations

import asyncio

from staticfire.bdd.step import given, then, when
from staticfire.bdd.world import MODEL, World
from staticfire.engine import Group, MockEngine, Script, phrases
from staticfire.engine import invariants as holds
from staticfire.engine.durations import duration
from staticfire.engine.fleet_file import parse_fleet
from staticfire.errors import BrokenPromise, WrongInput, WrongStep, did_you_mean

COLUMNS = ("group", "count", "model", "binds", "life")


def engines(world: World) -> list[MockEngine]:
    """The scenario's mock engines."""
    return [engine for engine in world.engines.values() if isinstance(engine, MockEngine)]


@given("a fleet of", example="a fleet of")
async def _(world: World, datatable: list[list[str]]) -> None:
    """A table of groups: `group`, `count`, `model`, `binds` (`12 s` or `12 s to 172 s`), `life`."""
    await world.mock_fleet(read_groups(datatable, world.lane.personality))


@given("the fleet of this file", example="the fleet of this file")
async def _(world: World, docstring: str) -> None:
    """A fleet file, as `staticfire fleet` serves it."""
    alike = {"model": MODEL, "personality": world.lane.personality}
    await world.mock_fleet(parse_fleet(docstring, "the fleet's file", defaults=alike).groups)


def read_groups(table: list[list[str]], personality: str) -> list[Group]:
    """The groups of a table; raises `WrongInput` for a column that no group has."""
    head, *rows = ([cell.strip() for cell in row] for row in table)
    for column in head:
        if column not in COLUMNS:
            raise WrongInput(
                "the fleet's table",
                expected=f"the columns {', '.join(COLUMNS)}",
                found=repr(column),
                do=did_you_mean(column, COLUMNS),
            )
    return [_group(dict(zip(head, row, strict=True)), personality) for row in rows]


def _group(row: dict[str, str], personality: str) -> Group:
    cells = {column: text for column, text in row.items() if text}
    where = f"the fleet's table, group {cells.get('group', '')!r}"
    if not cells.get("count", "1").isdecimal():
        raise WrongInput(where, expected="a whole number as count", found=repr(cells["count"]))
    first, to, last = cells.get("binds", "0").partition(" to ")
    began = duration(first, where)
    script = Script(
        model=cells.get("model", MODEL),
        personality=personality,
        life=phrases.life(cells.get("life", "serves")),
    )
    return Group(
        cells.get("group", ""),
        int(cells.get("count", "1")),
        script,
        binds=(began, duration(last, where)) if to else began,
    )


@when(
    "{count:d} sessions at a time send {each:d} requests each, until it is {end:g} s",
    example="8 sessions at a time send 3 requests each, until it is 60 s",
)
async def _(world: World, count: int, each: int, end: float) -> None:
    """Sessions come and go: when one has sent its requests, a second apart, a new one begins."""

    async def seat(number: int) -> None:
        visit = 0
        while world.seconds < end:
            client = world.judge()
            for _ in range(each):
                await client.chat(MODEL, session=f"s{number:03}-{visit}", max_tokens=2)
                await asyncio.sleep(1.0)
            visit += 1

    async with asyncio.TaskGroup() as group:
        for number in range(count):
            group.create_task(seat(number), name=f"seat {number}")


@then("no request was lost", example="no request was lost")
def _(world: World) -> None:
    """Every chat request of the scenario's clients got a whole answer below 400 from an engine."""
    holds.none_lost(engines(world), world.sent)


@then(
    "no request reached an engine before it served",
    example="no request reached an engine before it served",
)
def _(world: World) -> None:
    """Clients' requests only; a router's probes come earlier, and may."""
    holds.none_before_ready(engines(world))


@then(
    'engine "{name}" got its first client between {early:g} and {late:g} s',
    example='engine "late" got its first client between 53 and 54 s',
)
def _(world: World, name: str, early: float, late: float) -> None:
    """When the first chat request of a client reached an engine, probes left out."""
    mine = [r.at for r in world.mock(name).journal.requests() if holds.ID in r.headers]
    came = world.since_start(mine[0]) if mine else None
    if came is None or not early <= came <= late + world.notices:
        told = "none came" if came is None else f"it came at {came:g} s"
        raise BrokenPromise(
            f"expected the first client of engine {name!r} from {early:g} to {late:g} s; {told}"
        )


@then("no request was worked on twice", example="no request was worked on twice")
def _(world: World) -> None:
    """What reached engines again had been shed before: 429, 503, 529."""
    holds.none_twice(engines(world))


@then(
    "the {what} are spread within {within:d} of even",
    example="the sessions are spread within 1 of even",
)
def _(world: World, what: str, within: int) -> None:
    """The engines' numbers of requests, or of sessions, differ by that much at most."""
    kinds = {"requests": False, "sessions": True}
    if what not in kinds:
        raise WrongStep(f"what is spread is requests or sessions, not {what!r}")
    holds.spread_is_even(engines(world), within=within, sessions=kinds[what])


@then("no session leaves an engine that lives", example="no session leaves an engine that lives")
def _(world: World) -> None:
    """A session moves only when its engine's process has ended."""
    holds.sessions_stay(engines(world))
