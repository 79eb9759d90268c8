"""Tests of the fault `outlives its client`."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from staticfire.clock import NS
from staticfire.clock.virtual import run
from staticfire.engine import Capacity, MockEngine, OutlivesItsClient, Rule, Script
from staticfire.engine.actions import Wait

SLOW = Capacity(slots=1, per_token=1.0)


def left(http, **fields):
    """The engine, 3.5 s after a client of a slow answer came, and a second after it left."""

    async def main():
        rule = Rule("chat", OutlivesItsClient(), times=1)
        async with MockEngine(Script(rules=[rule], capacity=SLOW)) as engine:
            await http.talk(engine, http.chat(max_tokens=8, **fields), patience=2.5)
            await asyncio.sleep(1)
            running = engine.slots.running
            after = await http.talk(engine, http.chat())
            return running, after, engine

    return run(main())


def test_generation_goes_on_to_its_end(http):
    """The tokens after the client's leaving are made and counted, the slot is taken till then."""
    running, after, engine = left(http, stream=True)
    request = engine.journal.requests()[0]
    assert running == 1
    assert (request.ended, request.ended_at - request.at) == ("client left", round(2.5 * NS))
    assert (request.tokens, request.tokens_after) == (8, 5)
    assert after.status == 200
    assert after.lasted == 3.5 + 3  # it waited for the slot, then for its own four tokens
    assert engine.stats.finished == {"length": 2}


def test_a_json_answer_is_made_for_nobody(http):
    """llama.cpp does that (captured): nothing was sent when the client left, all was made."""
    _, _, engine = left(http)
    request = engine.journal.requests()[0]
    assert (request.tokens, request.tokens_after, request.status) == (8, 8, 200)


def test_a_client_that_stays_has_an_honest_answer(http):
    """The connection is kept, and serves the next request."""
    two = http.chat(close=False) + http.chat()
    heard, asked = http.played(OutlivesItsClient(), request=two)
    assert heard.data.count(b"HTTP/1.1 200 OK") == 2
    assert (asked.ended, asked.tokens_after) == ("whole", 0)


def test_a_dead_engine_makes_nothing(http):
    """What goes on for nobody ends with the process, and its slot with it."""

    async def main():
        rule = Rule("chat", OutlivesItsClient())
        async with MockEngine(Script(rules=[rule], capacity=SLOW)) as engine:
            await http.talk(engine, http.chat(stream=True, max_tokens=8), patience=2.5)
            engine.kill()
            await asyncio.sleep(60)
            return engine.journal.requests()[0], engine.slots.running

    request, running = run(main())
    assert (request.tokens, request.tokens_after, running) == (3, 0, 0)


@dataclass(frozen=True)
class BreaksLate:
    """A user's fault with a bug behind a long pause."""

    def play(self, honest, ask):
        yield Wait(10 * NS)
        raise LookupError("a bug in a fault")


def test_a_bug_in_a_fault_is_told(http):
    """What a fault raises when its client is gone is kept in the engine's errors."""

    async def main():
        rule = Rule("chat", [BreaksLate(), OutlivesItsClient()])
        async with MockEngine(Script(rules=[rule])) as engine:
            await http.talk(engine, http.chat(), patience=1)
            await asyncio.sleep(60)
            return engine.errors

    assert [str(error) for error in run(main())] == ["a bug in a fault"]
