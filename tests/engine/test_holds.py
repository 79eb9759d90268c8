"""Tests of holds: arrive, park, be released."""

from __future__ import annotations

import asyncio

import pytest

from staticfire.clock.virtual import run
from staticfire.engine import Capacity, MockEngine, Script


@pytest.mark.parametrize(
    ("place", "events"), [("head", None), ("first token", 1), ("token", 2), ("end", 6)]
)
def test_an_answer_parks_at_its_place(http, place, events):
    """What comes before the place is on the wire while the answer waits there."""

    async def main():
        async with MockEngine() as engine:
            hold = engine.hold(place)
            heard = []
            reader, writer = await asyncio.open_connection("127.0.0.1", engine.port)
            writer.write(http.chat(stream=True))
            await hold.arrived()
            parked = await http.listen(reader, patience=50)
            heard.append((parked.ended, parked.data))
            hold.release()
            rest = await http.listen(reader)
            writer.close()
            return heard[0], rest

    (ended, before), rest = run(main())
    assert ended == "open"
    assert (before == b"") is (events is None)
    assert before.count(b"data: ") == (events or 0)
    assert rest.ended == "fin"
    assert (before + rest.data).endswith(b"0\r\n\r\n")


def test_arrivals_are_counted_and_released_one_by_one(http):
    """Three requests park; two are let through, the third waits for more."""

    async def main():
        async with MockEngine() as engine:
            hold = engine.hold("head")
            asks = [asyncio.create_task(http.talk(engine, http.chat())) for _ in range(3)]
            await hold.arrived(3)
            assert hold.parked == 3
            hold.release(2)
            await asyncio.sleep(1)
            done = sum(ask.done() for ask in asks)
            hold.release()
            return done, [(await ask).status for ask in asks]

    assert run(main()) == (2, [200, 200, 200])


def test_a_release_may_come_before_the_arrival(http):
    """Released arrivals are credit for those still to come."""

    async def main():
        async with MockEngine() as engine:
            engine.hold("head").release(1)
            first = await http.talk(engine, http.chat())
            second = await http.talk(engine, http.chat(), patience=5)
            return first.status, second.ended

    assert run(main()) == (200, "open")


def test_a_client_that_leaves_parks_no_longer(http):
    """A parked request whose client goes frees its place and its slot."""

    async def main():
        async with MockEngine(Script(capacity=Capacity(slots=1))) as engine:
            hold = engine.hold("first token")
            await http.talk(engine, http.chat(), patience=2)
            await asyncio.sleep(1)
            assert (hold.parked, engine.slots.running) == (0, 0)
            hold.release()
            return (await http.talk(engine, http.chat())).status

    assert run(main()) == 200
