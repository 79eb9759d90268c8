"""Tests of the fault `answers without closing`."""

from __future__ import annotations

import pytest

from staticfire.clock.virtual import run
from staticfire.engine import AnswersWithoutClosing, MockEngine, Rule, Script
from staticfire.errors import WrongInput


@pytest.mark.parametrize(
    ("framing", "field"),
    [
        ("honest", b"content-length"),
        ("length", b"content-length"),
        ("chunked", b"transfer-encoding: chunked"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_the_answer_is_whole_by_its_framing_and_the_socket_stays_open(http, framing, field, stream):
    """The client has its whole answer although it asked for a close that never comes."""

    async def main():
        rule = Rule("chat", AnswersWithoutClosing(framing))
        async with MockEngine(Script(rules=[rule])) as engine:
            heard = await http.talk(engine, http.chat(stream=stream), patience=100)
            return heard, engine.journal.requests()[0]

    heard, asked = run(main())
    assert heard.ended == "open"
    if not (stream and framing == "honest"):
        assert field in heard.head
    if b"chunked" in heard.head:
        assert heard.data.endswith(b"0\r\n\r\n")
    else:
        length = int(heard.head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        assert length == len(heard.body)
    assert asked.ended == "whole"


def test_unframed_says_nowhere_that_it_is_whole(http):
    """Without framing the body is there, with neither length nor chunks nor an end."""

    async def main():
        rule = Rule("chat", AnswersWithoutClosing("none"))
        async with MockEngine(Script(rules=[rule])) as engine:
            return await http.talk(engine, http.chat(), patience=100)

    heard = run(main())
    assert heard.ended == "open"
    assert b"content-length" not in heard.head
    assert b"chunked" not in heard.head
    assert b"connection" not in heard.head
    assert heard.json()["object"] == "chat.completion"


def test_an_unknown_framing_is_refused_with_the_nearest():
    """A framing that is none names the one that was meant."""
    with pytest.raises(WrongInput, match='did you mean "chunked"'):
        AnswersWithoutClosing("chunkd")
