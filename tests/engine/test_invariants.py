"""Tests of what must hold of a fleet: each is seen kept and seen broken."""

from __future__ import annotations

import asyncio

import pytest

from staticfire.clock.virtual import run
from staticfire.engine import Answers, Fleet, Group, Loading, Rule, Script, Truncates
from staticfire.engine import invariants as holds
from staticfire.errors import BrokenPromise


@pytest.fixture
def played(http):
    """Runs groups of engines; `play` gets them and a way to send, the journals are looked at after.

    `await send("e-00", 1)` sends request r1 there, `await send("e-00", 1, "s")` of session s.
    """

    def play_on(play, *groups):
        async def main():
            async with Fleet.of_groups(groups or [Group("e", 2)]) as fleet:

                async def send(name, number=None, session=None):
                    headers = [] if number is None else [f"X-Request-Id: r{number}"]
                    headers += [] if session is None else [f"X-Session-Id: {session}"]
                    await http.talk(fleet[name], http.chat(headers=tuple(headers)))

                await play(fleet, send)
            return list(fleet)

        return run(main())

    return play_on


def sends(*requests):
    """Only sends, one after another."""

    async def play(_, send):
        for request in requests:
            await send(*request)

    return play


def test_no_request_is_lost_when_all_were_served(played):
    """A whole answer below 400 from any engine is enough."""
    holds.none_lost(played(sends(("e-00", 1), ("e-01", 2))), ["r1", "r2"])


def test_a_request_that_reached_nobody_is_lost(played):
    """The message names it."""
    engines = played(sends(("e-00", 1)))
    with pytest.raises(BrokenPromise, match=r"2 requests .*; 1 were lost:\n  r2: reached no eng"):
        holds.none_lost(engines, ["r1", "r2"])


def test_a_router_that_drops_ids_is_suspected(played):
    """Nothing with an id came: the message says that it may be the router's doing."""
    engines = played(sends(("e-00",)))
    with pytest.raises(BrokenPromise, match=r"1 were lost:\n  no engine .* or a router drops it"):
        holds.none_lost(engines, ["r1"])


@pytest.mark.parametrize(
    ("fault", "told"), [(Answers(503), "503 whole at e-00"), (Truncates(bytes=9), "200 cut at e")]
)
def test_a_request_that_was_refused_or_cut_is_lost(played, fault, told):
    """The message says what became of it; when another engine served it, it is not lost."""

    async def play(fleet, send):
        fleet["e-00"].add_rule(Rule("chat", fault))
        await send("e-00", 1)
        await send("e-00", 2)
        await send("e-01", 2)

    engines = played(play)
    holds.none_lost(engines, ["r2"])
    with pytest.raises(BrokenPromise, match=f"r1: {told}"):
        holds.none_lost(engines, ["r1"])


def test_a_request_before_its_engine_served_is_early(played):
    """The message names engine, phase and time; from the instant of serving on none is early."""

    async def play(fleet, send):
        await asyncio.sleep(9)
        await send("e", 1)
        await asyncio.sleep(1)
        await send("e", 2)

    engines = played(play, Group("e", script=Script(life=[Loading(seconds=10)])))
    with pytest.raises(BrokenPromise, match=r"1 came early:\n  r1 at e, loading at 9 s$"):
        holds.none_before_ready(engines)


def test_an_engine_that_served_once_is_ready_until_it_dies(played):
    """Busy after serving is ready; loading in a new life is not."""

    async def play(fleet, send):
        fleet["e"].run(Loading(seconds=5))
        await send("e", 1)

    async def play_again(fleet, send):
        await play(fleet, send)
        fleet["e"].restart(Script(life=[Loading(seconds=5)]))
        await send("e", 2)

    holds.none_before_ready(played(play, Group("e")))
    with pytest.raises(BrokenPromise, match=r"1 came early:\n  r2 at e"):
        holds.none_before_ready(played(play_again, Group("e")))


def test_a_request_that_two_engines_worked_on_is_twice(played):
    """The message names both."""
    engines = played(sends(("e-00", 1), ("e-01", 1), ("e-01", 2)))
    with pytest.raises(BrokenPromise, match=r"1 were .*:\n  r1: e-00 \(200 w.*, then e-01 \(200"):
        holds.none_twice(engines)


def test_a_request_that_was_shed_may_be_sent_again(played):
    """A 429 or 503 did no work; a 500 may have."""

    async def play(fleet, send, status=503):
        fleet["e-00"].add_rule(Rule("chat", Answers(status), times=1))
        await send("e-00", 1)
        await send("e-01", 1)

    holds.none_twice(played(play))
    with pytest.raises(BrokenPromise, match=r"r1: e-00 \(500 whole\), then e-01"):
        holds.none_twice(played(lambda fleet, send: play(fleet, send, 500)))


def test_an_even_spread_is_within_one(played):
    """By requests or by sessions; the message has how many each engine got."""
    engines = played(sends(("e-00", 1, "a"), ("e-00", 2, "a"), ("e-00", 3, "a"), ("e-01", 4, "b")))
    holds.spread_is_even(engines, sessions=True)
    holds.spread_is_even(engines, within=2)
    with pytest.raises(BrokenPromise, match=r"differ by 2:\n  1 on e-01\n  3 on e-00"):
        holds.spread_is_even(engines)


def test_a_session_on_two_engines_moved(played):
    """The message names it and where it went."""
    engines = played(sends(("e-00", 1, "a"), ("e-01", 2, "a"), ("e-01", 3, "b")))
    with pytest.raises(BrokenPromise, match=r"2 sessions to stay; 1 moved:\n  a: e-00, then e-01"):
        holds.sessions_stay(engines)


def test_a_session_may_leave_an_engine_that_died(played):
    """It had to; and it may not leave because another one died."""

    async def play(fleet, send, dies="e-00"):
        await send("e-00", 1, "a")
        fleet[dies].kill()
        await asyncio.sleep(1)
        fleet[dies].restart()
        await send("e-01", 2, "a")

    holds.sessions_stay(played(play))
    with pytest.raises(BrokenPromise, match=r"1 moved"):
        holds.sessions_stay(played(lambda fleet, send: play(fleet, send, "e-01")))


@pytest.mark.parametrize(
    "check",
    [
        holds.none_before_ready,
        holds.none_twice,
        holds.spread_is_even,
        holds.sessions_stay,
        lambda engines: holds.none_lost(engines, []),
    ],
)
def test_nothing_holds_of_nothing(played, check):
    """A promise about requests is not kept where there were none; probes have no id, do not count."""
    engines = played(sends(("e-00",)))
    with pytest.raises(BrokenPromise, match="there were none"):
        check(engines)


def test_a_long_list_of_culprits_is_cut_short(played):
    """A message stays readable."""
    engines = played(sends(*(("e-00", n) for n in range(2))))
    with pytest.raises(BrokenPromise, match=r"20 were lost(.*\n){9}  … and 12 more$"):
        holds.none_lost(engines, [f"x{n}" for n in range(20)])
