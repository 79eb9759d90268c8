"""Tests of the fault `loses its scheduler`."""

from __future__ import annotations

import asyncio

from staticfire.clock.virtual import run
from staticfire.engine import LosesItsScheduler, MockEngine, Rule, Script, Waits


def test_every_inference_hangs_and_everything_else_answers(http):
    """The answer itself, one that was going on, and one that comes later; health and listing are 200."""

    async def main():
        rules = [
            Rule("completions", LosesItsScheduler(), times=1),
            Rule("chat", Waits(between_tokens=1), times=1),
        ]
        async with MockEngine(Script(rules=rules)) as engine:
            streaming = http.chat(stream=True, max_tokens=13)
            before = asyncio.create_task(http.talk(engine, streaming, patience=60))
            await asyncio.sleep(1.5)
            prompt = http.request(path="/v1/completions", body={"prompt": "hi"})
            heard = [await http.talk(engine, prompt, patience=10)]
            heard.append(await http.talk(engine, http.chat(), patience=10))
            heard.append(await before)
            answered = [
                (await http.talk(engine, http.get(path))).status
                for path in ("/health", "/v1/models", "/metrics", "/version")
            ]
            engine.restart()
            return heard, answered, (await http.talk(engine, http.chat())).status

    heard, answered, afterwards = run(main())
    assert [each.ended for each in heard] == ["open"] * 3
    assert [each.data for each in heard[:2]] == [b"", b""]
    assert len(heard[2].events) == 3
    assert answered == [200] * 4
    assert afterwards == 200


def test_a_stream_may_begin(http):
    """After so many events it stands still, and so does what comes after it."""
    heard, asked = http.played(LosesItsScheduler(events=2), stream=True)
    assert (len(heard.events), heard.ended, asked.ended) == (2, "open", "held")


def test_an_engine_with_hanging_answers_stops_at_once(http):
    """Nobody waits for what will never move."""

    async def main():
        async with MockEngine(Script(rules=[Rule("chat", LosesItsScheduler())])) as engine:
            hanging = asyncio.create_task(http.talk(engine, http.chat()))
            await asyncio.sleep(1)
        return await hanging

    assert run(main()).lasted == 1
