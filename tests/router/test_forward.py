"""Bytes carried both ways, ends kept as they were."""

from __future__ import annotations

import asyncio
import socket
import struct

import pytest

from staticfire.clock.virtual import run
from staticfire.router.breaker import State
from staticfire.router.outcome import Outcome
from staticfire.wire import Address

EVENTS = [b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n', b"data: b\n\n", b"data: [DONE]\n\n"]


def reset(writer):
    plain = writer.get_extra_info("socket")
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def test_json_unchanged(raw):
    """Body and end-to-end headers pass unchanged both ways; the connection's own do not."""

    async def main():
        odd = b'{ "model" : "qwen", "x": [1,  2], "y": "\xc3\xa9", "stream": null }'
        worker = raw.Worker(chat=raw.whole(200, b" {odd} ", b"X-Odd: a,  b", b"X-Odd: c"))
        async with raw.stand(worker) as stand:
            client = await stand.connect()
            status, headers, body = await client.ask(
                odd, b"X-Session-ID: s1", b"Authorization: Bearer k", b"Connection: x-hop", b"x-hop: 1"
            )  # fmt: skip
            assert (status, body) == (200, b" {odd} ")
            assert headers[b"x-odd"] == b"c"
            head, got = worker.seen[0]
            assert got == odd
            lines = head.split(b"\r\n")
            assert b"X-Session-ID: s1" in lines
            assert b"Authorization: Bearer k" in lines
            assert b"host: 127.0.0.1:%d" % worker.port in lines
            assert b"hop" not in head
            assert head.lower().count(b"content-length") == 1

    run(main())


def test_stream_passes_as_it_comes(raw):
    """Each event is with the client before the next one is made; the end stays clean."""

    async def chat(reader, writer):
        writer.write(raw.sse)
        for event in EVENTS:
            await asyncio.sleep(10)
            writer.write(raw.chunk(event[:7]) + raw.chunk(event[7:]))
        writer.write(b"0\r\n\r\n")

    async def main():
        loop = asyncio.get_running_loop()
        async with raw.stand(raw.Worker(chat=chat)) as stand:
            client = await stand.connect()
            began = loop.time()
            client.send()
            assert (await client.head())[0] == 200
            assert loop.time() == began
            for turn, event in enumerate(EVENTS, 1):
                got = b""
                while got != event:
                    size = int(await client.reader.readuntil(b"\r\n"), 16)
                    got += (await client.reader.readexactly(size + 2))[:-2]
                assert loop.time() == began + 10 * turn
            assert await client.reader.readexactly(5) == b"0\r\n\r\n"
            assert stand.router.metrics.value("w00", Outcome.success) == 1
            assert (await client.ask(path=b"/health", method=b"GET"))[0] == 200

    run(main())


ENDS = {
    "stream, FIN": (True, False), "stream, RST": (True, True),
    "json, FIN": (False, False), "json, RST": (False, True),
}  # fmt: skip


@pytest.mark.parametrize("stream, rst", ENDS.values(), ids=list(ENDS))
def test_a_cut_stays_a_cut(raw, stream, rst):
    """What the worker sent arrives, then a cut: no clean end, no invented [DONE]; an error."""

    async def chat(reader, writer):
        start = raw.sse + raw.chunk(EVENTS[0]) if stream else raw.whole(200)[:-10]
        writer.write(start)
        await asyncio.sleep(1)
        reset(writer) if rst else writer.close()

    async def main():
        async with raw.stand(raw.Worker(chat=chat)) as stand:
            client = await stand.connect()
            client.send()
            status, _ = await client.head()
            rest = await client.reader.read()
            assert status == 200
            assert rest == (raw.chunk(EVENTS[0]) if stream else raw.answer[:-10])
            assert stand.router.metrics.value("w00", Outcome.error) == 1
            assert stand.workers[0].breaker.streak == 1

    run(main())


def test_cut_before_the_head_is_502(raw):
    """A worker that closes without an answer gives a 502 that names no URL."""

    async def chat(reader, writer):
        writer.close()

    async def main():
        worker = raw.Worker(chat=chat)
        async with raw.stand(worker) as stand:
            client = await stand.connect()
            status, headers, body = await client.ask()
            assert (status, headers[b"x-staticfire-error"]) == (502, b"worker_cut")
            assert b"127.0.0.1" not in body
            assert str(worker.port).encode() not in body
            assert len(worker.seen) == 1, "nothing is asked twice once a worker may have begun"

    run(main())


def test_malformed_answer_is_502(raw):
    """An answer that is not HTTP is a 502 and an error."""

    async def main():
        async with raw.stand(raw.Worker(chat=b"SSH-2.0-OpenSSH\r\n\r\n")) as stand:
            assert (await (await stand.connect()).ask())[0] == 502
            assert stand.router.metrics.value("w00", Outcome.error) == 1

    run(main())


def test_refused_worker(raw):
    """A refused connect is a 502 and an error; the worker leaves within seconds, then 503."""

    async def main():
        worker = raw.Worker()
        async with raw.stand(worker) as stand:
            await worker.stop()
            client = await stand.connect()
            status, headers, _ = await client.ask()
            assert (status, headers[b"x-staticfire-error"]) == (502, b"worker_unreachable")
            assert stand.router.metrics.value("w00", Outcome.error) == 1
            await asyncio.sleep(3)
            status, headers, _ = await client.ask()
            assert (status, headers[b"x-staticfire-error"]) == (503, b"no_worker_ready")
            assert headers[b"retry-after"] == b"1"
            await worker.start()
            await asyncio.sleep(2)
            assert (await client.ask())[0] == 200

    run(main())


@pytest.mark.parametrize("host", ["a..b", "x" * 70, "127.0.0.1"])
def test_unusable_worker_url(raw, host):
    """A worker URL that cannot be used is an error like any other, and a 502 without the URL."""

    async def main():
        worker = raw.Worker()
        async with raw.stand(worker) as stand:
            await worker.stop()
            stand.workers[0].lines.address = Address(host, 9)
            status, headers, body = await (await stand.connect()).ask()
            assert (status, headers[b"x-staticfire-error"]) == (502, b"worker_unreachable")
            assert host.encode() not in body
            assert stand.router.metrics.value("w00", Outcome.error) == 1
            assert stand.workers[0].breaker.streak == 1

    run(main())


def test_no_answer_in_time(raw):
    """A worker that says nothing for the request's time gives a 504 and an error."""

    async def chat(reader, writer):
        await reader.read()

    async def main():
        loop = asyncio.get_running_loop()
        async with raw.stand(raw.Worker(chat=chat), request_timeout_secs=30) as stand:
            client = await stand.connect()
            began = loop.time()
            status, headers, _ = await client.ask()
            assert (status, headers[b"x-staticfire-error"]) == (504, b"worker_timeout")
            assert loop.time() - began == 30
            assert stand.router.metrics.value("w00", Outcome.error) == 1

    run(main())


def test_silence_inside_a_stream(raw):
    """A stream that falls silent for too long is cut, which is an error; tokens keep it alive."""

    async def chat(reader, writer):
        writer.write(raw.sse)
        for _ in range(5):
            await asyncio.sleep(8)
            writer.write(raw.chunk(b"data: a\n\n"))
        await reader.read()

    async def main():
        loop = asyncio.get_running_loop()
        async with raw.stand(raw.Worker(chat=chat), stream_idle_timeout_secs=10) as stand:
            client = await stand.connect()
            began = loop.time()
            client.send()
            await client.head()
            with pytest.raises(asyncio.IncompleteReadError):
                await client.chunks()
            assert loop.time() - began == 50
            assert stand.router.metrics.value("w00", Outcome.error) == 1

    run(main())


@pytest.mark.parametrize("streamed", [False, True])
def test_leaver_is_noticed(raw, streamed):
    """A client that leaves closes the worker's connection at once; no verdict on the worker."""

    async def chat(reader, writer):
        if streamed:
            writer.write(raw.sse)
        await reader.read()
        left.append(asyncio.get_running_loop().time())
        writer.close()

    left = []

    async def main():
        async with raw.stand(raw.Worker(chat=chat)) as stand:
            client = await stand.connect()
            client.send()
            await asyncio.sleep(3)
            assert stand.workers[0].in_flight == 1
            at = asyncio.get_running_loop().time()
            client.writer.close()
            await asyncio.sleep(1)
            assert left == [at]
            assert stand.workers[0].in_flight == 0
            assert stand.router.metrics.value("w00", Outcome.cancelled) == 1
            assert stand.workers[0].breaker.streak == 0

    run(main())


def test_leaver_gives_the_probe_slot_back(raw):
    """A half-open worker whose probe's client left is asked by the next one."""
    hang = False

    async def chat(reader, writer):
        if hang:
            await reader.read()
            writer.close()
        else:
            writer.write(raw.whole(500, b"{}"))

    async def main():
        nonlocal hang
        async with raw.stand(raw.Worker(chat=chat)) as stand:
            client = await stand.connect()
            breaker = stand.workers[0].breaker
            while breaker.state is State.closed:
                await client.ask()
            hang = True
            await asyncio.sleep(30)
            leaver = await stand.connect()
            leaver.send()
            await asyncio.sleep(1)
            assert breaker.state is State.half_open
            assert (await client.ask())[1][b"x-staticfire-error"] == b"workers_resting"
            leaver.writer.close()
            await asyncio.sleep(1)
            hang = False
            assert (await client.ask())[0] == 500
            assert breaker.state is State.open

    run(main())


def test_slow_client_slows_the_worker(raw):
    """A client that does not read stops the worker's writing; nothing is lost when it reads on."""
    sent = 0
    total = 24 << 20

    async def chat(reader, writer):
        nonlocal sent
        writer.write(raw.sse)
        while sent < total:
            writer.write(raw.chunk(b"x" * (1 << 20)))
            sent += 1 << 20
            await writer.drain()
        writer.write(b"0\r\n\r\n")

    async def main():
        async with raw.stand(raw.Worker(chat=chat)) as stand:
            client = await stand.connect()
            client.send()
            await client.head()
            await asyncio.sleep(20)
            assert sent < total * 3 / 4
            assert len(await client.chunks()) == total

    run(main())


def test_client_that_never_reads_is_let_go(raw):
    """A client that takes nothing for so long is cut, and that says nothing of the worker."""

    async def chat(reader, writer):
        writer.write(raw.sse)
        while True:
            writer.write(raw.chunk(b"x" * (1 << 20)))
            await writer.drain()

    async def main():
        worker = raw.Worker(chat=chat)
        async with raw.stand(worker, write_stall_timeout_secs=10) as stand:
            client = await stand.connect()
            client.send()
            await client.head()
            await asyncio.sleep(30)
            assert stand.router.metrics.value("w00", Outcome.cancelled) == 1
            assert stand.workers[0].in_flight == 0

    run(main())


def test_dead_idle_connection_is_replaced(raw):
    """A pooled connection that the worker closed is replaced before anything is sent on it."""

    async def chat(reader, writer):
        writer.write(raw.whole(200))
        loop.call_later(5, writer.close)

    loop = None

    async def main():
        nonlocal loop
        loop = asyncio.get_running_loop()
        worker = raw.Worker(chat=chat)
        async with raw.stand(worker) as stand:
            client = await stand.connect()
            before = worker.connections
            for _ in range(3):
                assert (await client.ask())[0] == 200
            assert worker.connections == before + 1, "an alive one is used again"
            await asyncio.sleep(6)
            assert (await client.ask())[0] == 200
            assert stand.router.metrics.value("w00", Outcome.error) == 0

    run(main())


def test_excess_after_the_end(raw):
    """Bytes after a whole answer are dropped with their connection, never given to the next one."""

    async def main():
        worker = raw.Worker(chat=raw.whole(200) + raw.whole(200, b"stolen"))
        async with raw.stand(worker) as stand:
            client = await stand.connect()
            for _ in range(3):
                assert (await client.ask())[2] == raw.answer

    run(main())


def test_http_1_0_client(raw):
    """A client of HTTP/1.0 gets a stream without chunks, ended by the close."""

    async def chat(reader, writer):
        writer.write(raw.sse + b"".join(map(raw.chunk, EVENTS)) + b"0\r\n\r\n")

    async def main():
        async with raw.stand(raw.Worker(chat=chat)) as stand:
            client = await stand.connect()
            body = b'{"model":"qwen"}'
            line = b"POST /v1/chat/completions HTTP/1.0\r\ncontent-length: %d\r\n\r\n" % len(body)
            client.writer.write(line + body)
            status, headers = await client.head()
            assert (status, headers.get(b"transfer-encoding")) == (200, None)
            assert await client.reader.read() == b"".join(EVENTS)

    run(main())
