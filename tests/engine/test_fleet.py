"""Tests of fleets."""

from __future__ import annotations

import pytest

from staticfire.clock.virtual import run
from staticfire.engine import MockEngine, Refuses, Script
from staticfire.engine.fleet import Fleet
from staticfire.errors import WrongInput


def test_engines_start_side_by_side_and_stop_together(http):
    """Sixteen engines answer under their own names, and nothing is left after the fleet."""

    async def main():
        async with Fleet.of(16, seed=3) as fleet:
            names = []
            for engine in fleet:
                heard = await http.talk(engine, http.chat(max_tokens=1))
                names.append(heard.json()["choices"][0]["message"]["content"])
            assert len(set(fleet.urls)) == len(fleet) == 16
            return names

    assert run(main()) == [f" e{number:02}" for number in range(16)]


def test_an_engine_that_cannot_start_stops_the_rest():
    """A port in use ends the whole start, and the ports of the others are free again."""

    async def main():
        async with MockEngine() as other:
            fleet = Fleet({"a": Script()})
            fleet.add("b")._life.port.number = other.port
            with pytest.raises(WrongInput, match="in use"):
                await fleet.start()
            assert not fleet["a"].started

    run(main())


def test_names_are_unique_and_a_wrong_one_gets_the_nearest():
    """Two engines of one name are refused; an unknown name tells which was meant."""
    fleet = Fleet({"late": Script(life=[Refuses(seconds=12)])})
    with pytest.raises(WrongInput, match="a new name"):
        fleet.add("late")
    with pytest.raises(WrongInput, match='did you mean "late"'):
        fleet["lat"]


def test_one_timeline_tells_of_all_in_order_of_time():
    """Lines of several engines are merged by their instant."""

    async def main():
        import asyncio

        late = Script(life=[Refuses(seconds=2)])
        async with Fleet({"a": late, "b": Script()}) as fleet:
            await asyncio.sleep(3)
            fleet["b"].kill()
            return fleet.timeline()

    lines = run(main())
    assert [line.split() for line in lines][-3:] == [
        ["2.000", "s", "a", "phase:", "serving"],
        ["3.000", "s", "b", "dies"],
        ["3.000", "s", "b", "phase:", "dead"],
    ]
