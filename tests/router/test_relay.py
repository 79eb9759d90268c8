"""What is carried to the client, and what is told to the worker."""

from __future__ import annotations

import asyncio

import pytest

from staticfire.clock.virtual import run
from staticfire.router.outcome import Outcome

EVENT = b'data: {"choices":[]}\n\n'


def test_a_long_line_passes(raw):
    """A line of two megabytes in a stream is a line like any other (public case B038)."""
    line = b"data: " + b"x" * (2 << 20) + b"\n\n"

    async def chat(reader, writer):
        writer.write(raw.sse + raw.chunk(line) + raw.chunk(EVENT) + b"0\r\n\r\n")

    async def main():
        async with raw.stand(raw.Worker(chat=chat)) as stand:
            client = await stand.connect()
            assert (await client.ask())[2] == line + EVENT
            assert stand.router.metrics.value("w00", Outcome.success) == 1

    run(main())


@pytest.mark.parametrize("wait", [0, 0.05])
def test_a_stream_that_lies_about_its_length(raw, wait):
    """A stream whose Content-Length is that of its first event is no whole stream (B107)."""

    async def chat(reader, writer):
        head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n"
        writer.write(head % len(EVENT) + EVENT)
        await asyncio.sleep(wait)
        writer.write(EVENT * 3)

    async def main():
        async with raw.stand(raw.Worker(chat=chat)) as stand:
            client = await stand.connect()
            client.send()
            status, headers = await client.head()
            assert b"content-length" not in headers or status == 502
            if status == 200:
                with pytest.raises(asyncio.IncompleteReadError):
                    await client.chunks()
            assert stand.router.metrics.value("w00", Outcome.error) == 1

    run(main())


def test_a_stream_with_a_true_length_passes(raw):
    """A stream that states its length, and keeps to it, is whole."""

    async def chat(reader, writer):
        head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n"
        writer.write(head % (2 * len(EVENT)) + EVENT)
        await asyncio.sleep(1)
        writer.write(EVENT)

    async def main():
        async with raw.stand(raw.Worker(chat=chat)) as stand:
            assert (await (await stand.connect()).ask())[2] == EVENT * 2
            assert stand.router.metrics.value("w00", Outcome.success) == 1

    run(main())


@pytest.mark.parametrize("late", [0.05, 5])
def test_a_plain_answer_that_breaks_off(raw, late):
    """A plain answer that breaks off at once is a 502; one that was begun long before is a cut."""

    async def chat(reader, writer):
        writer.write(raw.whole(200)[:-10])
        await asyncio.sleep(late)
        writer.close()

    async def main():
        async with raw.stand(raw.Worker(chat=chat)) as stand:
            client = await stand.connect()
            client.send()
            status, _ = await client.head()
            assert status == (502 if late < 1 else 200)
            assert stand.router.metrics.value("w00", Outcome.error) == (1 if late < 1 else 0)
            if late > 1:
                assert await client.reader.read() == raw.answer[:-10]

    run(main())


def test_silence_is_the_clients_own_while_it_does_not_read(raw):
    """A client that pauses for longer than the worker's idle time, and reads on, loses nothing."""
    total = 24 << 20

    async def chat(reader, writer):
        writer.write(raw.sse)
        for _ in range(24):
            writer.write(raw.chunk(b"x" * (1 << 20)))
            await writer.drain()
        writer.write(b"0\r\n\r\n")

    async def main():
        async with raw.stand(raw.Worker(chat=chat), stream_idle_timeout_secs=10) as stand:
            client = await stand.connect()
            client.send()
            await client.head()
            await asyncio.sleep(60)
            assert len(await client.chunks()) == total
            assert stand.router.metrics.value("w00", Outcome.success) == 1

    run(main())


@pytest.mark.parametrize("streamed", [False, True])
def test_a_worker_is_told_that_its_client_left(raw, streamed):
    """With an abort path the worker is called with the request's id; without one it is not."""

    async def hang(reader, writer):
        if streamed:
            writer.write(raw.sse + raw.chunk(EVENT))
        worker.chat = raw.whole(200, b"{}")
        await reader.read()
        writer.close()

    worker = raw.Worker(chat=hang)

    async def main():
        async with raw.stand(worker, abort_path="/abort_request") as stand:
            client = await stand.connect()
            client.send(b'{"model":"qwen"}', b"X-Request-Id: abc-1")
            await asyncio.sleep(2)
            client.writer.close()
            await asyncio.sleep(1)
            head, body = worker.seen[-1]
            assert head.startswith(b"POST /abort_request HTTP/1.1\r\n")
            assert body == b'{"rid":"abc-1"}'
            assert stand.workers[0].in_flight == 0
            assert not stand.router._aborter._calls

    run(main())
