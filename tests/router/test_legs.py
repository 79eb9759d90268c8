"""Two legs of one request, where they end at odd times; the rest is `features/prefill_decode.feature`."""

from __future__ import annotations

import asyncio
import contextlib
import json

import pytest

from staticfire.clock.virtual import run
from staticfire.router import Router, Settings
from staticfire.router.breaker import State

EVENT = b'data: {"choices":[]}\n\n'


@contextlib.asynccontextmanager
async def pair(prefill, decode, dialect, **settings):
    """A router in front of one prefill and one decode leg, both proven."""
    for worker in (prefill, decode):
        await worker.start()
    router = Router(
        Settings(
            pd_disaggregation=dialect, prefill=(prefill.url,), decode=(decode.url,), port=0, **settings
        )
    )  # fmt: skip
    await router.start()
    try:
        await asyncio.sleep(1.5)
        yield router
    finally:
        await router.stop()
        for worker in (prefill, decode):
            await worker.stop()


async def ask(router, body=b'{"model":"qwen"}', path=b"/v1/chat/completions"):
    """The bytes of one answer, read to the end of its connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", router.port)
    head = b"POST %b HTTP/1.1\r\nhost: r\r\nconnection: close\r\ncontent-length: %d\r\n\r\n"
    writer.write(head % (path, len(body)) + body)
    came = await reader.read()
    writer.close()
    return came


def idle(router):
    """Whether nothing is left of any request."""
    return all(
        not worker.in_flight and worker.lines.all == {one for _, one in worker.lines._idle}
        for worker in router.workers
    )


def test_a_prefill_leg_that_refuses_too_late_is_let_go(raw):
    """Once the first token is here the cache has come: a late 400 without an end costs nobody."""

    async def refuses(reader, writer):
        await asyncio.sleep(1)
        writer.write(raw.whole(400)[:-5])
        await asyncio.sleep(100)

    async def makes(reader, writer):
        writer.write(raw.sse + raw.chunk(EVENT))
        await asyncio.sleep(3)
        writer.write(raw.chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n")

    async def main():
        async with pair(raw.Worker(chat=refuses), raw.Worker(chat=makes), "sglang") as router:
            came = await ask(router)
            assert came.startswith(b"HTTP/1.1 200 ")
            assert came.endswith(b"0\r\n\r\n")
            await asyncio.sleep(1)
            assert idle(router)
            assert {worker.breaker.state for worker in router.workers} == {State.closed}

    run(main())


def test_a_head_is_no_token(raw):
    """A decode leg whose head is here still waits for the cache: prefill's failure decides."""

    async def fails(reader, writer):
        await asyncio.sleep(1)
        writer.transport.abort()

    async def waits(reader, writer):
        writer.write(raw.sse)
        await reader.read()

    async def main():
        async with pair(raw.Worker(chat=fails), raw.Worker(chat=waits), "sglang") as router:
            assert (await ask(router)).startswith(b"HTTP/1.1 502 ")
            await asyncio.sleep(0.1)
            assert idle(router)

    run(main())


def test_the_prefill_leg_says_no_in_its_stream(raw):
    """A full SGLang engine answers 200 and says 503 in the first event: the client gets a 503."""
    told = b'data: {"error":{"message":"full","code":503}}\n\n'
    full = raw.sse + raw.chunk(told) + b"0\r\n\r\n"

    async def waits(reader, writer):
        await reader.read()

    async def main():
        async with pair(raw.Worker(chat=full), raw.Worker(chat=waits), "sglang") as router:
            came = await ask(router)
            assert came.startswith(b"HTTP/1.1 503 ")
            assert b"x-staticfire-error: prefill_failed" in came
            assert router.workers[0].breaker.streak == 0

    run(main())


@pytest.mark.parametrize("dialect", ["vllm", "sglang"])
def test_what_needs_one_leg_is_asked_of_prefill_alone(raw, dialect):
    """Only completions take two legs; a tokenizer has no cache to move, and keeps its bytes."""
    prefill, decode = raw.Worker(), raw.Worker()

    async def main():
        async with pair(prefill, decode, dialect) as router:
            body = b'{"model":"qwen", "prompt":"hi"}'
            assert (await ask(router, body, b"/tokenize")).startswith(b"HTTP/1.1 200 ")
            assert [seen for _, seen in prefill.seen] == [body]
            assert decode.seen == []

    run(main())


def test_a_prefill_leg_that_says_nothing_of_its_cache(raw):
    """The decode leg gets the client's request as it is, and computes the prompt again."""
    prefill, decode = raw.Worker(), raw.Worker()

    async def main():
        async with pair(prefill, decode, "vllm") as router:
            assert (await ask(router)).startswith(b"HTTP/1.1 200 ")
            assert json.loads(prefill.seen[0][1])["max_tokens"] == 1
            assert decode.seen[0][1] == b'{"model":"qwen"}'

    run(main())


def test_the_router_stops_while_a_prefill_leg_is_read(raw):
    """No task and no connection outlives the router."""

    async def holds(reader, writer):
        await reader.read()

    async def main():
        prefill, decode = raw.Worker(chat=holds), raw.Worker()
        async with pair(prefill, decode, "sglang") as router:
            assert (await ask(router)).startswith(b"HTTP/1.1 200 ")
            assert router.workers[0].in_flight == 1
        assert router.workers[0].in_flight == 0

    run(main())


@pytest.mark.parametrize("stream", [False, True])
def test_a_prefill_leg_that_never_ends_is_let_go_after_the_answer(raw, stream):
    """It counts as under way for ten seconds more, and no longer: else it would for half an hour."""

    async def holds(reader, writer):
        await reader.read()

    async def makes(reader, writer):
        writer.write(raw.sse + raw.chunk(EVENT))
        await asyncio.sleep(1)
        writer.write(raw.chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n")

    async def main():
        decode = raw.Worker(chat=makes) if stream else raw.Worker()
        async with pair(raw.Worker(chat=holds), decode, "sglang") as router:
            assert (await ask(router)).startswith(b"HTTP/1.1 200 ")
            await asyncio.sleep(9.9)
            assert [worker.in_flight for worker in router.workers] == [1, 0]
            await asyncio.sleep(0.2)
            assert idle(router)
            assert {worker.breaker.state for worker in router.workers} == {State.closed}

    run(main())
