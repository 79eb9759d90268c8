"""Steps of readiness: what a check says, and what it sent to find out."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from itertools import pairwise

from staticfire import readiness
from staticfire.bdd.step import given, then, when
from staticfire.bdd.steps.engines import CHAT, requests
from staticfire.bdd.world import MODEL, World
from staticfire.clock import seconds
from staticfire.errors import BrokenPromise


@dataclass
class History:
    """What a watch said, each change with its time in seconds of the scenario."""

    changes: list[tuple[float, str]] = field(default_factory=list)

    def note(self, world: World, record: readiness.Record) -> None:
        """Keep a status if it is new, with the time at which it began."""
        status = record.status.value
        if record.since is not None and (not self.changes or self.changes[-1][1] != status):
            self.changes.append((world.since_start(record.since), status))

    def __str__(self) -> str:
        return ", ".join(f"{status} at {at:g} s" for at, status in self.changes)


@when('a probe asks engine "{name}"', example='a probe asks engine "a"')
async def _(world: World, name: str) -> None:
    """One readiness probe under the default rule, `proven`."""
    await probe(world, name, "proven")


@when(
    'a probe under the rule "{rule}" asks engine "{name}"',
    example='a probe under the rule "strict" asks engine "a"',
)
async def _(world: World, name: str, rule: str) -> None:
    """One readiness probe under a rule: answered, proven or strict."""
    await probe(world, name, rule)


async def probe(world: World, name: str, rule: str) -> None:
    """Probe an engine and keep the evidence, and how long it took."""
    started = world.seconds
    url = world.engine(name).url
    world.facts["evidence"] = await readiness.probe(url, MODEL, accept=rule)
    world.facts["probe took"] = world.seconds - started


@then("the verdict is {verdict}", example="the verdict is serving")
def _(world: World, verdict: str) -> None:
    """unreachable, listing, serving, busy, misconfigured or broken."""
    evidence = world.facts["evidence"]
    known = [str(one.value) for one in readiness.Verdict]
    if verdict not in known:
        raise ValueError(f"no verdict {verdict!r}; there are {', '.join(known)}")
    if evidence.verdict.value != verdict:
        raise BrokenPromise(
            f"expected the verdict {verdict}, it is {evidence.verdict.value}: {evidence.reason}"
        )


@then('the verdict says "{words}"', example='the verdict says "the key is refused"')
def _(world: World, words: str) -> None:
    """The reason contains these words."""
    reason = world.facts["evidence"].reason
    if words not in reason:
        raise BrokenPromise(f"expected the words {words!r} in the reason {reason!r}")


@then("the probe took {seconds:g} seconds", example="the probe took 8 seconds")
def _(world: World, seconds: float) -> None:
    """From its start to its verdict, to the millisecond."""
    took = round(world.facts["probe took"], 3)
    if took != seconds:
        raise BrokenPromise(f"expected the probe to take {seconds:g} s, it took {took:g} s")


@given('a watch on engine "{name}"', example='a watch on engine "slow"')
def _(world: World, name: str) -> None:
    """A service's watch: the record that every check adds to, kept over the scenario."""
    world.facts["watch"] = readiness.Watch(world.engine(name).url, MODEL)
    world.facts["history"] = History()


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


@when(
    'the service on engine "{name}" is reported ready',
    example='the service on engine "a" is reported ready',
)
async def _(world: World, name: str) -> None:
    """Wait until readiness says so: as long as the scenario's known bug allows, or 600 s."""
    budget = world.wait_budget(None)
    waited = await readiness.wait_for(
        [world.engine(name).url], model=MODEL, timeout=budget.seconds, interval=1.0
    )
    if not waited.ok:
        why = "; ".join(reason for _, reason in waited.missing)
        raise BrokenPromise(budget.ran_out(f"engine {name!r} never became ready: {why}"))
    note = budget.close_call(seconds(waited.after))
    if note:
        world.reported.append(note)


@then('engine "{name}" lists the model', example='engine "service" lists the model')
async def _(world: World, name: str) -> None:
    """`/v1/models` names it."""
    answer = await world.judge(world.engine(name).url).ask("GET", "/v1/models")
    ids = [entry.get("id") for entry in answer.json().get("data", [])]
    if MODEL not in ids:
        raise BrokenPromise(f"expected {MODEL} in the listing, found {ids}")
