"""Slots, the line before them, and who has the next one."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from staticfire.clock import NS
from staticfire.clock.virtual import run
from staticfire.router.admission import Door, Line


class Seen:
    def __init__(self):
        self.told = []

    def admission(self, result, waited):
        self.told.append((result, waited / NS))


def test_a_slot_then_the_line_then_refused():
    """So many have a slot, so many wait, the next is refused."""
    line = Line(most=2, places=1)
    assert [line.ask(ticket, 0) for ticket in range(4)] == ["in", "in", "waits", "full"]
    assert (line.running, line.waiting) == (2, 1)


def test_first_come_first_served():
    """A slot that comes back goes to the one who has waited longest."""
    line = Line(most=1, places=9)
    for ticket in range(4):
        line.ask(ticket, 0)
    assert line.leave(2)
    assert [line.give_back() for _ in range(3)] == [1, 3, None]
    assert (line.running, line.waiting) == (0, 0)


def test_no_limit_is_no_line():
    """Without a limit everybody has a slot."""
    line = Line(most=None, places=0)
    assert {line.ask(ticket, 0) for ticket in range(1000)} == {"in"}


def test_zero_is_a_value():
    """A line without a place refuses at once; a limit of zero lets nobody in (B020)."""
    assert [Line(1, 0).ask(1, 0), Line(0, 0).ask(1, 0)] == ["in", "full"]
    line = Line(1, 0)
    line.ask(1, 0)
    assert line.ask(2, 0) == "full"


def test_retry_after_is_what_the_first_has_waited():
    """At least a second, never more than the longest wait."""
    line = Line(most=0, places=5)
    assert line.retry_after(7 * NS, 60 * NS) == 1
    line.ask(1, 10 * NS)
    line.ask(2, 12 * NS)
    assert line.retry_after(10 * NS, 60 * NS) == 1
    assert line.retry_after(13 * NS + 1, 60 * NS) == 4
    assert line.retry_after(500 * NS, 60 * NS) == 60


MOVES = st.lists(st.tuples(st.sampled_from(["ask", "give back", "leave"]), st.integers(0, 20)))


@settings(max_examples=100, deadline=None, database=None)
@given(st.integers(0, 4), st.integers(0, 4), MOVES)
def test_random_histories_of_a_line(most, places, moves):
    """Never more in than slots; nobody waits beside a free slot; each is served once, in order."""
    line = Line(most, places)
    inside, waiting = set(), []
    for ticket, (move, pick) in enumerate(moves):
        if move == "ask":
            asked = line.ask(ticket, ticket)
            assert asked == (
                "in" if len(inside) < most and not waiting
                else "waits" if len(waiting) < places
                else "full"
            )  # fmt: skip
            if asked == "in":
                inside.add(ticket)
            elif asked == "waits":
                waiting.append(ticket)
        elif move == "give back" and inside:
            inside.remove(sorted(inside)[pick % len(inside)])
            turn = line.give_back()
            assert turn == (waiting.pop(0) if waiting else None)
            if turn is not None:
                inside.add(turn)
        elif move == "leave" and waiting:
            assert line.leave(waiting.pop(pick % len(waiting)))
        assert (line.running, line.waiting) == (len(inside), len(waiting))
        assert line.running <= most
        assert not (waiting and line.running < most)


def test_a_waiter_comes_in_when_a_slot_is_given_back():
    """The wait is told, the answer is a slot."""

    async def main():
        seen = Seen()
        door = Door(1, 5, 60 * NS, seen)
        assert await door.enter() is None
        second = asyncio.create_task(door.enter())
        await asyncio.sleep(3)
        door.leave()
        assert await second is None
        assert (door.line.running, seen.told) == (1, [("waited", 3.0)])

    run(main())


def test_a_wait_that_is_over_is_a_429():
    """After the longest wait it is refused with Retry-After, and its place is free again."""

    async def main():
        seen = Seen()
        door = Door(1, 1, 60 * NS, seen)
        await door.enter()
        second = asyncio.create_task(door.enter())
        await asyncio.sleep(20)
        full = await door.enter()
        assert (full.status, full.code, full.retry_after) == (429, "queue_full", 20)
        late = await second
        assert (late.status, late.code, late.retry_after) == (429, "queue_timeout", 1)
        assert (door.line.running, door.line.waiting) == (1, 0)
        assert seen.told == [("full", 0.0), ("late", 60.0)]

    run(main())


@pytest.mark.parametrize("slot_came", [False, True])
def test_a_client_that_leaves_the_line_takes_no_slot(slot_came):
    """Also when its turn came in the same moment: then the next in the line has it."""

    async def main():
        seen = Seen()
        door = Door(1, 5, 60 * NS, seen)
        await door.enter()
        leaver = asyncio.create_task(door.enter())
        await asyncio.sleep(1)
        third = asyncio.create_task(door.enter())
        await asyncio.sleep(1)
        if slot_came:
            door.leave()
        leaver.cancel()
        await asyncio.sleep(0)
        if not slot_came:
            door.leave()
        assert await third is None
        assert (door.line.running, door.line.waiting) == (1, 0)
        assert ("left", 2.0) in seen.told

    run(main())


def test_a_slot_given_back_while_a_leaver_still_stands_there():
    """Between a client's leaving and its coroutine's end the slot passes it by."""

    async def main():
        door = Door(1, 5, 60 * NS)
        await door.enter()
        leaver, third = asyncio.create_task(door.enter()), asyncio.create_task(door.enter())
        await asyncio.sleep(1)
        leaver.cancel()
        door.leave()
        assert await third is None
        assert (door.line.running, door.line.waiting) == (1, 0)
        door.leave()
        assert door.line.running == 0

    run(main())
