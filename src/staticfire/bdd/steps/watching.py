"""Steps of a watch: what it says over time, and what it sent to find out."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from itertools import pairwise

from staticfire import readiness
from staticfire.bdd.step import given, then, when
from staticfire.bdd.steps.engines import CHAT, requests
from staticfire.bdd.world import MODEL, World
from staticfire.errors import BrokenPromise, WrongStep


@dataclass
class History:
    """What a watch said, each change with its time in seconds of the scenario."""

    changes: list[tuple[float, str]] = field(default_factory=list)
    shown: list[readiness.Show] = field(default_factory=list)
    """Each change of status, as it was shown."""

    def note(self, world: World, record: readiness.Record) -> None:
        """Keep a status if it is new, with the time at which it began."""
        status = record.status.value
        if record.since is not None and (not self.changes or self.changes[-1][1] != status):
            self.changes.append((world.since_start(record.since), status))

    def __str__(self) -> str:
        return ", ".join(f"{status} at {at:g} s" for at, status in self.changes)


@given('a watch on engine "{name}"', example='a watch on engine "slow"')
def _(world: World, name: str) -> None:
    """A service's watch: the record that every check adds to, kept over the scenario."""
    begin(world, name)


@given(
    'a watch on engine "{name}" whose evidence is fresh for {seconds:g} seconds',
    example='a watch on engine "slow" whose evidence is fresh for 30 seconds',
)
def _(world: World, name: str, seconds: float) -> None:
    """The same, with another freshness than 300 s."""
    begin(world, name, readiness.Settings(fresh_for=seconds))


@given(
    'a watch on engine "{name}" whose evidence is good for ever',
    example='a watch on engine "slow" whose evidence is good for ever',
)
def _(world: World, name: str) -> None:
    """The same under `--latch forever`: whoever has answered is not asked again."""
    begin(world, name, readiness.Settings(latch_forever=True))


def begin(world: World, name: str, settings: readiness.Settings | None = None) -> None:
    """Watch an engine; with a watch of each engine for the steps about all of them."""
    history = History()
    watch = readiness.Watch(
        world.engine(name).url, MODEL, settings=settings, on_show=history.shown.append
    )
    world.facts["watch"], world.facts["history"] = watch, history


@when(
    "the watch checks every {every:g} seconds for {total:g} seconds",
    example="the watch checks every 5 seconds for 400 seconds",
)
async def _(world: World, every: float, total: float) -> None:
    """Checks on a steady beat; one that takes longer than the beat delays the next."""
    watch, history = world.facts["watch"], world.facts["history"]
    started = world.seconds
    while world.seconds <= started + total:
        began = world.seconds
        checking = asyncio.ensure_future(watch.check())
        while not checking.done():
            await asyncio.wait([checking], timeout=0.5)
            history.note(world, watch.record)
        history.note(world, checking.result())
        beats = (world.seconds - began) // every + 1
        await asyncio.sleep(began + beats * every - world.seconds)


@when("a user's request is answered", example="a user's request is answered")
def _(world: World) -> None:
    """Answered user traffic renews the evidence for free."""
    world.facts["watch"].renew(world.loop.clock.now())


@then("it became {status} at {at:g} s", example="it became ready at 364 s")
def _(world: World, status: str, at: float) -> None:
    """The status began at that time of the scenario, to the millisecond."""
    history = world.facts["history"]
    if (at, status) not in [(round(t, 3), s) for t, s in history.changes]:
        raise BrokenPromise(f"expected {status} at {at:g} s; it was {history}")


@then("it was never {status}", example="it was never failed")
def _(world: World, status: str) -> None:
    """A status that no check ever gave."""
    history = world.facts["history"]
    if status in [s for _, s in history.changes]:
        raise BrokenPromise(f"expected it never to be {status}; it was {history}")


@then(
    'engine "{name}" was never probed twice within {seconds:g} seconds',
    example='engine "slow" was never probed twice within 15 seconds',
)
def _(world: World, name: str, seconds: float) -> None:
    """The throttle: from the start of one failed probe to the start of the next."""
    probes = [request.at for request in requests(world.mock(name), CHAT)]
    gaps = [(b - a) / 1e9 for a, b in pairwise(probes)]
    if len(probes) < 2:
        raise BrokenPromise(f"expected several probes, engine {name!r} saw {len(probes)}")
    if min(gaps) < seconds:
        raise BrokenPromise(f"expected {seconds:g} s between probes; the closest: {min(gaps):g} s")


@when("the watch checks once", example="the watch checks once")
async def _(world: World) -> None:
    """One check."""
    world.facts["history"].note(world, await world.facts["watch"].check())


@when("the watched engine begins a new life", example="the watched engine begins a new life")
def _(world: World) -> None:
    """Whoever restarted it says so: nothing that was known of the old life counts."""
    world.facts["watch"].restarted()


@then("its status is {status}", example="its status is ready")
def _(world: World, status: str) -> None:
    """What the watch says now."""
    known = [one.value for one in readiness.Status]
    if status not in known:
        raise WrongStep(f"no status {status!r}; there are {', '.join(known)}")
    record = world.facts["watch"].record
    if record.status.value != status:
        raise BrokenPromise(
            f"expected the status {status}, it is {record.status.value}: {record.reason}; "
            f"it was {world.facts['history']}"
        )


@then('its reason says "{words}"', example='its reason says "asleep"')
def _(world: World, words: str) -> None:
    """The reason of the watch contains these words."""
    reason = world.facts["watch"].why
    if words not in reason:
        raise BrokenPromise(f"expected the words {words!r} in the reason {reason!r}")


@then(
    "its changes were shown as {changes}",
    example="its changes were shown as running, ready, degraded",
)
def _(world: World, changes: str) -> None:
    """Each change of status once, in their order."""
    shown = [show.status.value for show in world.facts["history"].shown]
    if shown != [word.strip() for word in changes.split(",")]:
        raise BrokenPromise(f"expected the changes {changes}, shown were {', '.join(shown)}")


@when(
    "all engines are checked side by side within {limit:g} seconds",
    example="all engines are checked side by side within 8 seconds",
)
async def _(world: World, limit: float) -> None:
    """One check of each, as a user's list does it."""
    watches = [readiness.Watch(engine.url, MODEL) for engine in world.engines.values()]
    started = world.seconds
    records = await readiness.check_all(watches, within=limit)
    world.facts["checks took"] = world.seconds - started
    world.facts["records"] = dict(zip(world.engines, records, strict=True))


@then("the checks took {limit:g} seconds", example="the checks took 8 seconds")
def _(world: World, limit: float) -> None:
    """From the first to the last, to the millisecond."""
    took = round(world.facts["checks took"], 3)
    if took != limit:
        raise BrokenPromise(f"expected the checks to take {limit:g} s, they took {took:g} s")


@then("{count:d} engines are {status}", example="9 engines are ready")
def _(world: World, count: int, status: str) -> None:
    """What those checks say."""
    found = {name: record.status.value for name, record in world.facts["records"].items()}
    if sum(value == status for value in found.values()) != count:
        raise BrokenPromise(f"expected {count} engines {status}, they are {found}")
