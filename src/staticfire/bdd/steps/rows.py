"""Steps of expectation rows: what a known bug excuses, and what it does not."""

from __future__ import annotations

from datetime import date

from staticfire.bdd.step import given, then, when
from staticfire.bdd.world import World
from staticfire.errors import BrokenPromise, WrongInput
from staticfire.expectations import (
    Expectation,
    Expectations,
    Known,
    budget_for,
    lint,
    parse,
    settle,
)

KNOWN_IDS = ("stream-cut", "stream-whole")
"""The scenario ids that the rows of these scenarios may name."""

FAILURES = {
    "a pass": None,
    "a broken promise": BrokenPromise("the stream was ended cleanly"),
    "another broken promise": BrokenPromise("no worker"),
    "a broken harness": KeyError("world"),
    "a promise that ran out of time": BrokenPromise("inconclusive: not served within 90 s"),
}


@given("these known bugs", example="these known bugs")
def _(world: World, docstring: str) -> None:
    """Rows as they stand in `expectations.toml`; it is 2026-06-01, and two scenarios are known."""
    known = Known(ids=KNOWN_IDS, lanes=("mock", "llamacpp"), routers=("bundled", "other"))
    world.facts["refused"] = ""
    try:
        rows = parse(docstring, where="expectations.toml")
        problems = lint(rows, known, date(2026, 6, 1))
    except WrongInput as error:
        world.facts["refused"] = str(error)
        return
    if problems:
        world.facts["refused"] = str(problems[0])
    world.facts["rows"] = Expectations(rows)


@when(
    'scenario "{scenario}" runs on lane "{lane}" with router "{router}"',
    example='scenario "stream-cut" runs on lane "mock" with router "bundled"',
)
def _(world: World, scenario: str, lane: str, router: str) -> None:
    """Ask the rows what they expect of it there."""
    conditions = {"lane": lane, "router": router, "engine": lane, "clock": "virtual"}
    world.facts["expected"] = world.facts["rows"].resolve(scenario, conditions)


def expected(world: World) -> Expectation:
    """What the rows said."""
    found: Expectation = world.facts["expected"]
    return found


@then("it is expected to {outcome}", example="it is expected to xfail")
def _(world: World, outcome: str) -> None:
    """Pass or xfail."""
    found = expected(world)
    if found.outcome != outcome:
        raise BrokenPromise(f"expected {outcome}, the rows say {found.outcome}: {found.why}")


@then("{ending} counts as {result}", example="a broken promise counts as xfailed")
def _(world: World, ending: str, result: str) -> None:
    """How an ending counts: passed, failed or xfailed."""
    found = settle(expected(world), FAILURES[ending])
    if found.result != result:
        raise BrokenPromise(f"expected {ending} to count as {result}, it is {found}")


@then(
    "a wait until served lasts {seconds:g} seconds",
    example="a wait until served lasts 600 seconds",
)
def _(world: World, seconds: float) -> None:
    """The row's own time, or 600 s."""
    found = budget_for(expected(world))
    if found.seconds != seconds:
        raise BrokenPromise(f"expected a wait of {seconds:g} s, it is {found}")


@then(
    "a wait of {used:g} seconds is reported as a close call",
    example="a wait of 69.2 seconds is reported as a close call",
)
def _(world: World, used: float) -> None:
    """A pass that used over two thirds of its row's time was luck."""
    if budget_for(expected(world)).close_call(used) is None:
        raise BrokenPromise(f"expected a report of a wait of {used:g} s")


@then(
    'the file is refused, because it says "{words}"',
    example='the file is refused, because it says "did you mean"',
)
def _(world: World, words: str) -> None:
    """A wrong row is one clear error before a test runs."""
    refused = world.facts["refused"]
    if words not in refused:
        raise BrokenPromise(f"expected a refusal with {words!r}, it is {refused!r}")
