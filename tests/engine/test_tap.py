"""Tests of the tap: bytes, closes and their causes on a connection."""

from __future__ import annotations

import asyncio

import pytest

from staticfire.clock import NS
from staticfire.clock.virtual import run
from staticfire.engine import (
    AnswersWithoutClosing,
    Capacity,
    Dribbles,
    MockEngine,
    NeverAnswers,
    Rule,
    Script,
    Truncates,
)


def whats(engine, connection=1):
    return [row.what for row in engine.journal.rows if row.connection == connection]


def test_a_fault_is_armed_for_exactly_one_answer(http):
    """On one kept-alive connection only the second of three answers dribbles."""

    async def main():
        async with MockEngine() as engine:
            reader, writer = await asyncio.open_connection("127.0.0.1", engine.port)
            spans = []
            for number in range(3):
                if number == 1:
                    engine.add_rule(Rule("chat", Dribbles(100, 1.0), times=1))
                began = asyncio.get_running_loop().time()
                writer.write(http.chat(close=False))
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
                await reader.readexactly(length)
                spans.append(asyncio.get_running_loop().time() - began)
            writer.close()
            return spans

    first, second, third = run(main())
    assert (first, third) == (0.0, 0.0)
    assert second > 5


def test_events_leave_as_they_are_produced(http):
    """A paced stream is never buffered: each event arrives at its own time."""

    async def main():
        script = Script(capacity=Capacity(first_token=1.0, per_token=0.25))
        async with MockEngine(script) as engine:
            return await http.talk(engine, http.chat(stream=True))

    assert run(main()).times == [0.0, 1.0, 1.25, 1.5, 1.75]


def test_the_client_s_leaving_is_seen_and_frees_the_slot(http):
    """When the client goes, the answer ends, its slot is free, and the journal says who left."""

    async def main():
        async with MockEngine(Script(rules=[Rule("chat", NeverAnswers(), times=1)])) as engine:
            await http.talk(engine, http.chat(), patience=3)
            await asyncio.sleep(1)
            slow = Script(capacity=Capacity(slots=1, per_token=100.0))
            engine.restart(slow)
            await http.talk(engine, http.chat(stream=True), patience=3)
            await asyncio.sleep(1)
            return engine, engine.slots.running

    engine, running = run(main())
    assert running == 0
    assert [request.ended for request in engine.journal.requests()] == ["client left"] * 2
    assert "client left" in whats(engine)
    assert engine.stats.finished == {"abort": 1}


def test_the_first_cause_of_a_close_is_kept(http):
    """A client that goes after our cut changes nothing: we closed."""

    async def main():
        async with MockEngine(Script(rules=[Rule("chat", Truncates(bytes=1))])) as engine:
            await http.talk(engine, http.chat())
            await asyncio.sleep(10)
            return engine

    engine = run(main())
    assert [what for what in whats(engine) if what in ("closes", "client left")] == ["closes"]


def test_a_held_open_connection_swallows_aiohttp_s_close(http):
    """After a whole answer with Connection: close nothing closes until the client does."""

    async def main():
        async with MockEngine(Script(rules=[Rule("chat", AnswersWithoutClosing())])) as engine:
            await http.talk(engine, http.chat(), patience=1000)
            await asyncio.sleep(1)
            return engine

    engine = run(main())
    assert "closes" not in whats(engine)
    assert whats(engine)[-1] == "client left"


def test_an_idle_connection_is_closed_after_vllm_s_five_seconds(http):
    """A kept-alive connection closes 5 s after its last answer, a busy one does not."""

    async def main():
        async with MockEngine(Script(capacity=Capacity(first_token=60.0))) as engine:
            return await http.talk(
                engine, http.chat(close=False) + http.get("/health", close=False)
            )

    heard = run(main())
    assert heard.times[-1] == 60.0
    assert heard.data.count(b"HTTP/1.1 200 OK") == 2
    assert (heard.ended, heard.lasted) == ("fin", 65.0)


def test_a_fresh_connection_may_be_silent(http):
    """Before its first request a connection is never called idle."""

    async def main():
        async with MockEngine() as engine:
            return await http.talk(engine, b"", patience=100)

    assert run(main()).ended == "open"


def test_pipelined_requests_are_answered_in_order(http):
    """Two requests in one segment get two answers on one connection."""

    async def main():
        async with MockEngine(Script(model="qwen")) as engine:
            return await http.talk(engine, http.get("/version", close=False) + http.chat())

    data = run(main()).data
    assert data.index(b'{"version"') < data.index(b'"chat.completion"')


def test_a_reader_that_does_not_read_stops_the_writer(http):
    """Backpressure: what one client leaves unread is not produced without bound."""

    async def main():
        script = Script(tokens=200_000)
        async with MockEngine(script) as engine:
            _, writer = await asyncio.open_connection("127.0.0.1", engine.port, limit=1024)
            writer.write(http.chat(stream=True, max_tokens=200_000))
            await asyncio.sleep(1)
            made = engine.stats.generation_tokens
            writer.transport.abort()
            return made

    assert 0 < run(main()) < 150_000


def test_bytes_that_a_pace_holds_back_count_as_unwritten(http):
    """A dribbled stream is produced no faster than its queue drains."""

    async def main():
        script = Script(tokens=100_000, rules=[Rule("chat", Dribbles(1, 1.0))])
        async with MockEngine(script) as engine:
            await http.talk(engine, http.chat(stream=True, max_tokens=100_000), patience=10)
            return engine.stats.generation_tokens

    assert 0 < run(main()) < 5_000


def test_bytes_that_are_no_http_get_the_engine_s_own_400(http):
    """What cannot be parsed is answered as uvicorn does, and the connection closes."""

    async def main():
        async with MockEngine() as engine:
            heard = [
                await http.talk(engine, raw)
                for raw in (
                    b"HELLO\r\n\r\n",
                    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                    b"\x16\x03\x01\x00\r\n\r\n",
                )
            ]
            return heard, engine.errors

    heard, errors = run(main())
    for each in heard:
        assert each.status == 400
        assert each.body == b"Invalid HTTP request received."
        assert each.ended == "fin"
    assert errors == []


def test_an_upload_of_megabytes_is_taken(http):
    """A body has no limit of 1 MiB, and a client that asks for 100 Continue gets it."""

    async def main():
        async with MockEngine(Script(max_model_len=10_000_000)) as engine:
            messages = [{"role": "user", "content": "x" * 3_000_000}]
            return await http.talk(
                engine, http.chat(messages=messages, headers=("Expect: 100-continue",))
            )

    data = run(main()).data
    assert data.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")


def test_an_http_1_0_client_gets_no_chunks(http):
    """A stream to HTTP/1.0 ends with the connection."""

    async def main():
        async with MockEngine() as engine:
            raw = http.chat(stream=True).replace(b"HTTP/1.1", b"HTTP/1.0", 1)
            return await http.talk(engine, raw)

    heard = run(main())
    assert b"chunked" not in heard.head
    assert heard.data.endswith(b"data: [DONE]\n\n")
    assert heard.ended == "fin"


@pytest.mark.parametrize("reset", [False, True])
def test_death_ends_every_connection_at_its_instant(http, reset):
    """A kill cuts an open stream at that very nanosecond, by FIN or RST."""

    async def main():
        async with MockEngine(Script(capacity=Capacity(per_token=1.0))) as engine:
            asyncio.get_running_loop().call_later(2.5, lambda: engine.kill(reset=reset))
            heard = await http.talk(engine, http.chat(stream=True))
            return heard, engine.journal.requests()[0]

    heard, asked = run(main())
    assert heard.lasted == 2.5
    assert heard.ended == ("reset" if reset else "fin")
    assert len(heard.events) == 4
    assert (asked.ended, asked.ended_at - asked.at) == ("killed", round(2.5 * NS))
