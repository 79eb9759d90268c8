"""Tests of capacity: slots, queue, speed."""

from __future__ import annotations

import asyncio

import pytest

from staticfire.clock.virtual import run
from staticfire.engine import Capacity, MockEngine, Script
from staticfire.engine.capacity import admit
from staticfire.errors import WrongInput


@pytest.mark.parametrize(
    ("queue", "running", "waiting", "verdict"),
    [
        (None, 0, 0, "run"),
        (None, 1, 0, "run"),
        (None, 2, 0, "wait"),
        (None, 2, 999, "wait"),
        (1, 2, 0, "wait"),
        (1, 2, 1, "shed"),
        (0, 2, 0, "shed"),
        (1, 1, 1, "shed"),
    ],
)
def test_a_request_runs_waits_or_is_shed(queue, running, waiting, verdict):
    """Free slots first, then the queue, which is without bound unless it is limited."""
    assert admit(Capacity(slots=2, queue=queue), running, waiting) == verdict


def test_waiting_requests_are_served_first_come_first_served(http):
    """With one slot, answers of 2 s end at 2, 4 and 6 s in the order of arrival."""

    async def main():
        async with MockEngine(Script(capacity=Capacity(slots=1, first_token=2.0))) as engine:
            asks = [asyncio.create_task(http.talk(engine, http.chat())) for _ in range(3)]
            ends = [(await ask).lasted for ask in asks]
            return ends, engine.slots.running, engine.slots.waiting

    assert run(main()) == ([2.0, 4.0, 6.0], 0, 0)


def test_a_waiting_client_that_leaves_gives_up_its_place(http):
    """The next in the queue moves up when one before it goes."""

    async def main():
        async with MockEngine(Script(capacity=Capacity(slots=1, first_token=10.0))) as engine:
            first = asyncio.create_task(http.talk(engine, http.chat()))
            await asyncio.sleep(1)
            leaver = asyncio.create_task(http.talk(engine, http.chat(), patience=2))
            await asyncio.sleep(1)
            third = asyncio.create_task(http.talk(engine, http.chat()))
            lasted = [(await task).lasted for task in (first, leaver, third)]
            return lasted, engine.slots.running

    assert run(main()) == ([10.0, 2.0, 18.0], 0)


def test_speed_is_seconds_to_the_first_token_and_between_tokens(http):
    """A JSON answer takes first_token plus per_token for each later one."""

    async def main():
        script = Script(capacity=Capacity(first_token=1.0, per_token=0.5))
        async with MockEngine(script) as engine:
            return (await http.talk(engine, http.chat(max_tokens=5))).times

    assert run(main()) == [3.0]


@pytest.mark.parametrize("fields", [{"slots": 0}, {"queue": -1}, {"per_token": -0.1}])
def test_impossible_limits_are_refused(fields):
    """Each limit has a least value."""
    with pytest.raises(WrongInput, match=f"capacity: {next(iter(fields))}"):
        Capacity(**fields)
