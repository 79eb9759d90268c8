"""Tests of the fault `waits`."""

from __future__ import annotations

from staticfire.clock.virtual import run
from staticfire.engine import MockEngine, Rule, Script, Waits


def test_it_waits_before_the_head(http):
    """No byte comes before the wait is over; then the whole answer does."""

    async def main():
        rule = Rule("chat", Waits(before_head=5))
        async with MockEngine(Script(rules=[rule])) as engine:
            return await http.talk(engine, http.chat())

    heard = run(main())
    assert heard.times == [5.0]
    assert heard.json()["usage"]["completion_tokens"] == 4


def test_it_waits_before_the_first_token_and_between_tokens(http):
    """The head is on the wire at once, then events come one by one in time."""

    async def main():
        rule = Rule("chat", Waits(before_first_token=5, between_tokens=2))
        async with MockEngine(Script(rules=[rule])) as engine:
            return await http.talk(engine, http.chat(stream=True, max_tokens=3))

    heard = run(main())
    assert heard.times == [0.0, 5.0, 7.0, 9.0]
    assert heard.pieces[0][1].endswith(b"\r\n\r\n")
    assert heard.events[-1] == b"data: [DONE]"


def test_the_body_of_a_json_answer_is_its_first_token(http):
    """Of a JSON answer the head comes first, the body after the wait."""

    async def main():
        rule = Rule("chat", Waits(before_first_token=3))
        async with MockEngine(Script(rules=[rule])) as engine:
            return await http.talk(engine, http.chat())

    heard = run(main())
    assert heard.times == [0.0, 3.0]
    assert heard.status == 200
