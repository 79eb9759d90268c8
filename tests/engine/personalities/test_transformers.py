"""The golden test of the transformers personality: a real server's answers, asked of the mock."""

from __future__ import annotations

import asyncio

import pytest

import golden_questions
from golden import captured, compare
from staticfire.clock.virtual import run
from staticfire.engine import Capacity, Loading, MockEngine, Script

REAL = captured("transformers-5.17.0.txt")

HEADS = {
    "date": "the clock's own time",
    "content-length": "checked against the body, whose ids and words differ",
    "x-request-id": "ids are random; an id of the request's own has its test",
}
"""Header fields whose values may differ, and why."""

BODIES = [
    (rb'"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"', rb'"ID"', "ids are random"),
    (rb'"created":[\d.]+', rb'"created":T', "the clock's own time"),
    (
        rb'"prompt_tokens":(3018|18018),"total_tokens":\d+',
        rb'"prompt_tokens":N',
        "a word of the long prompt is one token there; the mock's tokens are letters",
    ),
]
"""What may differ in a body, and why; spoken words are compared by their number."""

LEFT_OUT = {"Expect 100": "aiohttp's 100 is sent before the request is known; tested for itself"}
MODEL = "lab/tiny"
SCRIPT = Script(model=MODEL, models=["lab/big"], personality="transformers")


def chat(http, *headers, **fields):
    return golden_questions.chat(http, MODEL, *headers, **fields)


def questions(http):
    """Name → the request that was sent to the real server."""
    return golden_questions.questions(http, REAL, MODEL, words=3000) | {
        "HEAD /health": http.request("HEAD", "/health"),
        "x-request-id echo": http.request("GET", "/v1/models", headers=("X-Request-Id: abc-123",)),
    }


def test_every_capture_has_a_question(http):
    """No captured answer is left out of the comparison without a reason."""
    assert set(REAL) == set(questions(http)) | set(LEFT_OUT)


async def answer(http, script, request):
    async with MockEngine(script, name="mock") as engine:
        return await http.talk(engine, request)


@pytest.mark.parametrize("name", [name for name in REAL if name not in LEFT_OUT])
def test_the_mock_answers_as_the_real_server_did(http, name):
    """Status, header names, case and order, JSON key order, errors and chunks are the capture's."""
    heard = run(answer(http, SCRIPT, questions(http)[name]))
    compare(name, heard, REAL[name], BODIES, HEADS)


def test_the_requests_own_id_is_in_head_and_body(http):
    """An `x-request-id` comes back in the head, and is the answer's id."""
    heard = run(answer(http, SCRIPT, chat(http, "X-Request-Id: abc-123")))
    assert b"\r\nx-request-id: abc-123" in heard.head
    assert heard.json()["id"] == "abc-123"


def test_a_chat_waits_for_the_model_while_health_and_listing_are_200(http):
    """The purest listed-but-not-loaded engine: in a loading phase only chat hangs, then answers."""
    script = Script(model=MODEL, personality="transformers", life=[Loading(seconds=60)])

    async def main():
        async with MockEngine(script) as engine:
            waits = asyncio.create_task(http.talk(engine, chat(http)))
            asks = [http.get("/health"), http.get("/v1/models")]
            return [await http.talk(engine, ask) for ask in asks], await waits

    plain, waited = run(main())
    assert [(heard.status, heard.lasted) for heard in plain] == [(200, 0.0), (200, 0.0)]
    assert (waited.status, waited.lasted) == (200, 60.0)


def test_loading_a_model_tells_its_progress(http):
    """Events for each stage, then `ready`, and no `[DONE]`."""
    script = Script(model=MODEL, personality="transformers", life=[Loading(seconds=60)])
    heard = run(answer(http, script, http.request("POST", "/load_model", {"model": MODEL})))
    assert heard.lasted == 60.0
    assert b'"stage": "weights", "progress": {"current": 21, "total": 21}' in heard.events[-2]
    assert b'{"status": "ready", "model": "lab/tiny@main", "cached": false}' in heard.events[-1]


def test_after_sigterm_a_stream_runs_to_its_end(http):
    """No new connection is taken; the stream is whole; then the process is gone."""
    script = Script(model=MODEL, personality="transformers", capacity=Capacity(per_token=1.0))

    async def main():
        async with MockEngine(script) as engine:
            ask = asyncio.create_task(http.talk(engine, chat(http, stream=True, max_tokens=9)))
            await asyncio.sleep(2.5)
            engine.terminate()
            with pytest.raises(ConnectionRefusedError):
                await http.talk(engine, http.get("/health"))
            heard = await ask
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            return heard, engine.phase().name

    heard, phase = run(main())
    assert b'"finish_reason":"length"' in heard.events[-1]
    assert (heard.lasted, phase) == (8.0, "dead")
