"""Tests of the fault `dribbles`."""

from __future__ import annotations

import pytest

from staticfire.clock.virtual import run
from staticfire.engine import Capacity, Dribbles, MockEngine, Rule, Script
from staticfire.errors import WrongInput


def hear(http, fault, *, patience=600.0, script=None, **fields):
    async def main():
        async with MockEngine(script or Script(rules=[Rule("chat", fault)])) as engine:
            heard = await http.talk(engine, http.chat(**fields), patience=patience)
            return heard, engine.journal.requests()[0]

    return run(main())


def test_head_and_body_come_a_few_bytes_at_a_time(http):
    """N bytes arrive each T seconds from the first byte to the last, then the connection closes."""
    heard, asked = hear(http, Dribbles(bytes=100, every=2.0))
    assert {len(piece) for _, piece in heard.pieces[:-1]} == {100}
    assert heard.times == [2.0 * i for i in range(len(heard.pieces))]
    assert heard.json()["object"] == "chat.completion"
    assert (heard.ended, asked.ended) == ("fin", "whole")
    assert asked.ended_at - asked.at == round(heard.times[-1] * 1e9)


def test_only_the_head_dribbles(http):
    """With part "head" the body comes whole behind the last piece of the head."""
    heard, _ = hear(http, Dribbles(bytes=50, every=1.0, part="head"))
    size = len(heard.head) + 4
    slow = -(-size // 50)
    assert len(heard.pieces) == slow + 1
    assert sum(len(piece) for _, piece in heard.pieces[:slow]) == size
    assert heard.times[-1] == float(slow)


def test_only_the_body_dribbles(http):
    """With part "body" the whole head comes first, together with the first piece of the body."""
    heard, _ = hear(http, Dribbles(bytes=70, every=1.0, part="body"))
    first = heard.pieces[0][1]
    assert first.partition(b"\r\n\r\n")[0] == heard.head
    body = len(heard.data) - len(heard.head) - 4
    assert heard.lasted == float(-(-body // 70) - 1)


def test_a_paced_stream_dribbles_in_time_order(http):
    """Tokens that are produced over time join the dribble's queue in order."""
    script = Script(rules=[Rule("chat", Dribbles(40, 0.5))], capacity=Capacity(per_token=1.0))
    heard, _ = hear(http, None, script=script, stream=True)
    assert heard.times == sorted(heard.times)
    assert heard.events[-1] == b"data: [DONE]"
    assert heard.data.endswith(b"0\r\n\r\n")


@pytest.mark.parametrize("stream", [False, True])
def test_an_endless_body_never_comes_to_its_end(http, stream):
    """An endless dribble still dribbles after an hour, and its framing never ends."""
    heard, _ = hear(http, Dribbles(8, 1.0, endless=True), patience=3600, stream=stream)
    assert heard.ended == "open"
    assert heard.times[-1] >= 3599.0
    assert b"chunked" in heard.head
    assert b"\r\n0\r\n\r\n" not in heard.data
    assert b"[DONE]" not in heard.data


def test_an_endless_head_never_comes_to_its_end(http):
    """An endless dribble of the head sends header fields for ever and no body."""
    heard, _ = hear(http, Dribbles(4, 1.0, part="head", endless=True), patience=1000)
    assert heard.ended == "open"
    assert heard.data.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"\r\n\r\n" not in heard.data
    assert len(heard.data) == 4000


def test_a_dribble_without_bytes_or_time_is_refused():
    """Zero bytes or no time between them is wrong input."""
    with pytest.raises(WrongInput):
        Dribbles(bytes=0)
    with pytest.raises(WrongInput):
        Dribbles(every=0)
    with pytest.raises(WrongInput, match='did you mean "body"'):
        Dribbles(part="bodies")
