"""Tests of the fault `answers`."""

from __future__ import annotations

import asyncio

import pytest

from staticfire.clock.virtual import run
from staticfire.engine import Answers, MockEngine, Rule, Script
from staticfire.errors import WrongInput


def test_status_header_and_body_reach_the_client(http):
    """Status, Retry-After, own headers and an own body are sent as the script says."""

    async def main():
        fault = Answers(429, retry_after=1.5, headers=(("x-why", "quota"),), body='{"a":1}')
        async with MockEngine(Script(rules=[Rule("chat", fault)])) as engine:
            return await http.talk(engine, http.chat())

    heard = run(main())
    assert heard.head.startswith(b"HTTP/1.1 429 Too Many Requests\r\n")
    assert b"\r\nretry-after: 1.5\r\nx-why: quota\r\n" in heard.head
    assert b"content-type: application/json" in heard.head
    assert heard.body == b'{"a":1}'
    assert heard.ended == "fin"


def test_a_bare_status_speaks_the_engine_s_dialect(http):
    """Without a body the error is the one that the personality would send, without Retry-After."""

    async def main():
        async with MockEngine(Script(rules=[Rule("chat", Answers(503))])) as engine:
            return await http.talk(engine, http.chat())

    heard = run(main())
    assert heard.json()["error"]["type"] == "Service Unavailable"
    assert heard.json()["error"]["code"] == 503
    assert b"retry-after" not in heard.head


def test_a_200_without_body_is_the_honest_answer_with_more_headers(http):
    """A status of 200 keeps the honest body and adds the script's headers."""

    async def main():
        rule = Rule("chat", Answers(200, headers={"x-extra": "1"}))
        async with MockEngine(Script(rules=[rule])) as engine:
            return await http.talk(engine, http.chat())

    heard = run(main())
    assert heard.status == 200
    assert b"x-extra: 1" in heard.head
    assert heard.json()["choices"][0]["message"]["role"] == "assistant"


def test_times_and_seconds_limit_a_rule(http):
    """A rule acts `times` times or for `seconds` on [start, end), then the engine is honest again."""

    async def main():
        statuses = []
        async with MockEngine(Script(rules=[Rule("chat", Answers(503), times=2)])) as engine:
            statuses += [(await http.talk(engine, http.chat())).status for _ in range(3)]
            engine.add_rule(Rule("chat", Answers(500), seconds=8))
            await asyncio.sleep(7.999999999)
            statuses.append((await http.talk(engine, http.chat())).status)
            await asyncio.sleep(0.000000001)
            statuses.append((await http.talk(engine, http.chat())).status)
        return statuses

    assert run(main()) == [503, 503, 200, 500, 200]


def test_a_status_that_is_none_is_refused():
    """A status that does not fit in three digits is wrong input."""
    with pytest.raises(WrongInput, match="three digits"):
        Answers(42)
