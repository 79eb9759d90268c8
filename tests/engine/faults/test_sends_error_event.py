"""Tests of the fault `sends an error event`."""

from __future__ import annotations

import json

import pytest

from staticfire.clock.virtual import run
from staticfire.engine import MockEngine, Rule, Script, SendsErrorEvent


def hear(http, fault, **fields):
    async def main():
        async with MockEngine(Script(rules=[Rule("chat", fault)])) as engine:
            return await http.talk(engine, http.chat(**fields))

    return run(main())


@pytest.mark.parametrize("after", [0, 2, 99])
def test_a_clean_200_says_inside_that_it_failed(http, after):
    """After N events comes an error object as an event, then [DONE] and a clean end."""
    heard = hear(http, SendsErrorEvent(503, after=after), stream=True)
    assert heard.status == 200
    *before, error, done = heard.events
    assert len(before) == min(after, 5)
    assert json.loads(error.removeprefix(b"data: "))["error"]["code"] == 503
    assert error.startswith(b'data: {"error": {"message": ')
    assert done == b"data: [DONE]"
    assert heard.data.endswith(b"0\r\n\r\n")


def test_done_can_be_left_out(http):
    """Without [DONE] the error is the last event."""
    heard = hear(http, SendsErrorEvent(done=False), stream=True)
    assert b"EngineCore encountered an issue" in heard.events[-1]


def test_an_answer_that_is_no_stream_gets_the_status(http):
    """A JSON answer has no events: the error comes as its status."""
    heard = hear(http, SendsErrorEvent(500))
    assert heard.status == 500
    assert heard.json()["error"]["type"] == "InternalServerError"


def test_an_engine_without_error_objects_gets_openai_s_shape(http):
    """Transformers serve says its errors as plain text: the event has JSON around it."""

    async def main():
        script = Script(
            model="qwen", personality="transformers", rules=[Rule("chat", SendsErrorEvent(503))]
        )
        async with MockEngine(script) as engine:
            return await http.talk(engine, http.chat(model="qwen", stream=True))

    event = run(main()).events[0].removeprefix(b"data: ")
    assert json.loads(event)["error"]["code"] == 503
