"""Tests of the fault `crashes`."""

from __future__ import annotations

import asyncio

import pytest

from staticfire.clock.virtual import run
from staticfire.engine import Crashes, MockEngine, Rule, Script, Waits
from staticfire.errors import WrongInput


@pytest.mark.parametrize("reset", [False, True])
def test_the_engine_dies_after_so_many_events(http, reset):
    """The events come, the connection ends, the journal says that the process died."""
    heard, asked = http.played(Crashes(events=2, reset=reset), stream=True)
    assert len(heard.events) == 2
    assert heard.ended == ("reset" if reset else "fin")
    assert asked.ended == "killed"


def test_a_json_answer_dies_in_the_middle_of_its_body(http):
    """Half the bytes that the head promised."""
    heard, _ = http.played(Crashes(events=1))
    length = int(heard.head.partition(b"content-length: ")[2].split(b"\r\n")[0])
    assert len(heard.body) == length // 2


def test_without_events_not_a_byte_comes(http):
    """It dies on the request itself."""
    heard, _ = http.played(Crashes())
    assert heard.data == b""


def test_everybody_s_connection_ends_and_connects_are_refused(http):
    """Another client's stream is cut at that instant; the next connect fails."""

    async def main():
        rules = [Rule("completions", Crashes()), Rule("chat", Waits(between_tokens=1))]
        async with MockEngine(Script(rules=rules)) as engine:
            other = asyncio.create_task(http.talk(engine, http.chat(stream=True)))
            await asyncio.sleep(1.5)
            await http.talk(engine, http.request(path="/v1/completions", body={"prompt": "hi"}))
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection("127.0.0.1", engine.port)
            return await other

    heard = run(main())
    assert (heard.lasted, heard.ended) == (1.5, "fin")


def test_a_new_life_serves_on_the_same_port(http):
    """`back` seconds later, to the nanosecond, as another generation."""

    async def main():
        rule = Rule("chat", Crashes(back=5), times=1)
        async with MockEngine(Script(rules=[rule])) as engine:
            await http.talk(engine, http.chat())
            await asyncio.sleep(4.999999999)
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection("127.0.0.1", engine.port)
            await asyncio.sleep(0.000000001)
            return (await http.talk(engine, http.chat())).status, engine.generation

    assert run(main()) == (200, 2)


@pytest.mark.parametrize("fields", [{"events": -1}, {"back": -1.0}])
def test_less_than_nothing_is_refused(fields):
    """No events and no seconds below zero."""
    with pytest.raises(WrongInput, match="crashes"):
        Crashes(**fields)
