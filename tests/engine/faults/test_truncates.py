"""Tests of the fault `truncates`."""

from __future__ import annotations

import asyncio

import pytest

from staticfire.clock.virtual import run
from staticfire.engine import Capacity, MockEngine, Rule, Script, Truncates
from staticfire.errors import WrongInput


def hear(http, fault, *, speed=0.0, **fields):
    async def main():
        script = Script(rules=[Rule("chat", fault)], capacity=Capacity(per_token=speed))
        async with MockEngine(script) as engine:
            heard = await http.talk(engine, http.chat(**fields))
            return heard, engine.journal.requests()[0]

    return run(main())


@pytest.mark.parametrize(("reset", "ended"), [(False, "fin"), (True, "reset")])
@pytest.mark.parametrize("stream", [False, True])
def test_bytes_are_body_bytes_before_chunking(http, reset, ended, stream):
    """Exactly N body bytes arrive, whatever the framing; then FIN or RST."""
    heard, asked = hear(http, Truncates(bytes=300, reset=reset), stream=stream)
    assert len(heard.body) == 300
    assert heard.ended == ended
    assert not heard.data.endswith(b"0\r\n\r\n")
    assert asked.ended == ("reset" if reset else "cut")


def test_no_bytes_leaves_the_head_alone(http):
    """After zero bytes there is a head and nothing else."""
    heard, _ = hear(http, Truncates(bytes=0))
    assert (heard.status, heard.body, heard.ended) == (200, b"", "fin")


def test_bytes_of_the_wire_count_everything(http):
    """Of the wire, the head and the chunk sizes count too."""
    heard, _ = hear(http, Truncates(bytes=20, wire=True), stream=True)
    assert heard.data == b"HTTP/1.1 200 OK\r\ndat"


def test_events_are_counted_in_a_stream(http):
    """After two events the stream ends at an event's border, without [DONE] or a last chunk."""
    heard, _ = hear(http, Truncates(events=2), stream=True)
    assert len(heard.events) == 2
    assert heard.ended == "fin"
    assert not heard.data.endswith(b"0\r\n\r\n")


def test_a_stream_with_fewer_events_stays_whole(http):
    """A count that is never reached leaves the answer as it was."""
    heard, asked = hear(http, Truncates(events=50), stream=True)
    assert heard.events[-1] == b"data: [DONE]"
    assert asked.ended == "whole"


def test_all_events_and_no_end_is_a_cut_too(http):
    """When the last event is out, the cut takes the chunked end away."""
    heard, _ = hear(http, Truncates(events=6), stream=True)
    assert heard.events[-1] == b"data: [DONE]"
    assert not heard.data.endswith(b"0\r\n\r\n")


def test_seconds_count_from_the_head(http):
    """A paced stream is cut at the second named."""
    heard, _ = hear(http, Truncates(seconds=2.5), speed=1.0, stream=True, max_tokens=9)
    assert heard.lasted == 2.5
    assert heard.times == [0.0, 1.0, 2.0]
    assert heard.ended == "fin"


def test_a_fin_stays_a_fin_while_the_client_uploads(http):
    """A cut by FIN with bytes of the client unread does not become an RST by accident."""

    async def main():
        async with MockEngine(Script(rules=[Rule("chat", Truncates(bytes=5))])) as engine:
            reader, writer = await asyncio.open_connection("127.0.0.1", engine.port)
            upload = http.request(body=b" " * 300_000, close=False)
            writer.write(http.chat(close=False) + upload[:200_000])
            heard = await http.listen(reader)
            writer.write(upload[200_000:])
            await writer.drain()
            writer.close()
            return heard

    heard = run(main())
    assert len(heard.body) == 5
    assert heard.ended == "fin"


def test_exactly_one_measure_is_asked_for():
    """None or two of bytes, events and seconds are wrong input."""
    with pytest.raises(WrongInput, match="found none of them"):
        Truncates()
    with pytest.raises(WrongInput, match="found bytes and events"):
        Truncates(bytes=1, events=1)
