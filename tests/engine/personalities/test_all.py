"""What holds for every personality."""

from __future__ import annotations

import asyncio
import json

import pytest

from staticfire.clock.virtual import run
from staticfire.engine import Capacity, MockEngine, Script, personalities
from staticfire.engine.actions import header
from staticfire.judge import End, Judge

ALL = personalities()
MODEL = "lab/tiny"


def on_an_engine(name, ask, **fields):
    """What `ask(engine)` gives on an engine of a personality."""

    async def main():
        async with MockEngine(Script(model=MODEL, personality=name, **fields)) as engine:
            return await ask(engine)

    return run(main())


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("stream", [False, True])
def test_an_honest_client_gets_whole_answers(name, stream):
    """Chat of a served model is a whole 200 with the words of this engine."""
    answer = on_an_engine(name, lambda engine: Judge(engine.url).chat(MODEL, stream=stream))
    assert (answer.status, answer.end) == (200, End.WHOLE)
    assert answer.text.split()[0] == "engine"


@pytest.mark.parametrize("name", ALL)
def test_listing_names_the_model(name):
    """By its own name, in OpenAI's form."""
    answer = on_an_engine(name, lambda engine: Judge(engine.url).ask("GET", "/v1/models"))
    assert MODEL in {card["id"] for card in answer.json()["data"]}


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503, 529])
def test_a_complaint_has_the_length_it_says(name, status):
    """Whatever status a script asks for, head and body fit together; JSON can be read."""

    async def complain(engine):
        return [engine.complain(status, None), engine.complain_of_health(status, None)]

    for fields, body in on_an_engine(name, complain):
        assert header(fields, b"content-length") == b"%d" % len(body)
        if b"json" in (header(fields, b"content-type") or b""):
            assert isinstance(json.loads(body), dict)


@pytest.mark.parametrize("name", ALL)
def test_a_full_queue_is_refused_at_once(name):
    """With one running and no queue the next JSON request is a 503, and counted."""

    async def ask(engine):
        busy = asyncio.create_task(Judge(engine.url).chat(MODEL))
        await asyncio.sleep(1)
        answer = await Judge(engine.url).chat(MODEL)
        await busy
        return answer.status, engine.stats.shed

    capacity = Capacity(slots=1, queue=0, first_token=9.0)
    assert on_an_engine(name, ask, capacity=capacity) == (503, {"requests": 1})


@pytest.mark.parametrize("name", ALL)
def test_blocks_are_taken_and_given_back(name):
    """A chat fills KV blocks while it runs, whole or streamed, and leaves none behind."""

    async def ask(engine):
        usages = []
        for stream in (False, True):
            chat = asyncio.create_task(Judge(engine.url).chat(MODEL, stream=stream))
            await asyncio.sleep(2.5)
            usages.append(engine.slots.schedule.usage)
            await chat
        return usages, engine.slots.schedule.usage

    capacity = Capacity(per_token=1.0, blocks=50, block_size=4)
    (plain, stream), after = on_an_engine(name, ask, capacity=capacity)
    assert 0.1 < plain <= 0.5
    assert 0.1 < stream <= 0.5
    assert after == 0.0


@pytest.mark.parametrize("name", ALL)
def test_sigterm_ends_an_idle_engine(name):
    """Within a moment its port refuses, whatever its manner with answers on their way."""

    async def ask(engine):
        engine.terminate()
        await asyncio.sleep(1)
        return engine.phase().name, (await Judge(engine.url).ask("GET", "/health")).end

    assert on_an_engine(name, ask) == ("dead", End.REFUSED)


@pytest.mark.parametrize("name", ALL)
def test_bytes_that_are_no_http_get_a_400(name, http):
    """And the connection ends."""
    heard = on_an_engine(name, lambda engine: http.talk(engine, b"HELLO\r\n\r\n"))
    assert (heard.status, heard.ended) == (400, "fin")
