"""Tests of users' own aiohttp handlers."""

from __future__ import annotations

import pytest
from aiohttp import web

from staticfire.clock.virtual import run
from staticfire.engine import MockEngine, Rule, Script, Truncates, handles
from staticfire.errors import WrongInput


@handles("test-rerank", "POST /v1/rerank")
async def rerank(request):
    return web.json_response({"asked": (await request.json())["query"]}, headers={"x-own": "1"})


@handles("test-stream", "GET /own-stream")
async def stream(request):
    response = web.StreamResponse()
    await response.prepare(request)
    await response.write(b"one")
    await response.write(b"two")
    return response


@handles("test-broken", "GET /broken")
async def broken(request):
    raise LookupError("no such thing")


SCRIPT = Script(handlers=["test-rerank", "test-stream", "test-broken"])


def test_a_response_is_altered_like_any_honest_answer(http):
    """A handler's `Response` arrives, and a fault on its route plays on it."""

    async def main():
        async with MockEngine(SCRIPT) as engine:
            ask = http.request("POST", "/v1/rerank", {"query": "q"})
            whole = await http.talk(engine, ask)
            engine.add_rule(Rule("POST /v1/rerank", Truncates(bytes=4)))
            return whole, await http.talk(engine, ask)

    whole, cut = run(main())
    assert whole.json() == {"asked": "q"}
    assert b"x-own: 1" in whole.head
    assert cut.body == whole.body[:4]


def test_a_stream_response_goes_through_as_it_is(http):
    """What a handler streams by itself arrives and is journalled whole."""

    async def main():
        async with MockEngine(SCRIPT) as engine:
            heard = await http.talk(engine, http.get("/own-stream"))
            return heard, engine.journal.requests()[0]

    heard, asked = run(main())
    assert b"one" in heard.data
    assert b"two" in heard.data
    assert heard.ended == "fin"
    assert (asked.status, asked.ended) == (200, "whole")


def test_a_handler_that_raises_answers_500_and_is_kept(http):
    """The exception stands in `engine.errors` and in the timeline; the client gets a 500."""

    async def main():
        async with MockEngine(SCRIPT) as engine:
            heard = await http.talk(engine, http.get("/broken"))
            return heard, engine.errors, engine.timeline()

    heard, errors, timeline = run(main())
    assert heard.status == 500
    assert [type(error) for error in errors] == [LookupError]
    assert any("handler failed: LookupError: no such thing" in line for line in timeline)


def test_an_unknown_handler_gets_the_nearest(http):
    """A script that names no registered handler fails at the start, not at a request."""
    with pytest.raises(WrongInput, match='did you mean "test-rerank"'):
        MockEngine(Script(handlers=["test-rerankk"]))
