"""Steps of readiness: what a probe says, and when a service is reported ready."""

from __future__ import annotations

from staticfire import readiness
from staticfire.bdd.step import then, when
from staticfire.bdd.world import World
from staticfire.clock import seconds
from staticfire.errors import BrokenPromise, WrongStep


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
    world.facts["evidence"] = await readiness.probe(
        url, world.model, accept=rule, headers=world.lane.key.headers
    )
    world.facts["probe took"] = world.seconds - started


@then("the verdict is {verdict}", example="the verdict is serving")
def _(world: World, verdict: str) -> None:
    """unreachable, listing, serving, busy, misconfigured or broken."""
    evidence = world.facts["evidence"]
    known = [str(one.value) for one in readiness.Verdict]
    if verdict not in known:
        raise WrongStep(f"no verdict {verdict!r}; there are {', '.join(known)}")
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


@when(
    'the service on engine "{name}" is reported ready',
    example='the service on engine "a" is reported ready',
)
async def _(world: World, name: str) -> None:
    """Wait until readiness says so: as long as the scenario's known bug allows, or 600 s."""
    budget = world.wait_budget(None)
    waited = await readiness.wait_for(
        [world.engine(name).url],
        model=world.model,
        timeout=budget.seconds,
        interval=1.0,
        headers=world.lane.key.headers,
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
    if world.model not in ids:
        raise BrokenPromise(f"expected {world.model} in the listing, found {ids}")
