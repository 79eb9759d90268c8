"""A slot comes back however its request ends."""

from __future__ import annotations

import asyncio
import json
import socket

import pytest

from staticfire.clock.virtual import run

SLOT = {"max_concurrent_requests": 1, "queue_size": 0}


def taken(stand):
    """How many slots are taken."""
    return stand.router._door.line.running


def test_a_reader_that_stalls_gives_up_its_slot(raw):
    """A client that takes nothing of its answer for two minutes is let go, and the next one served."""

    async def flood(reader, writer):
        writer.write(raw.sse)
        while True:
            writer.write(raw.chunk(b"data: " + b"x" * 60000 + b"\n\n"))
            await writer.drain()

    async def main():
        loop = asyncio.get_running_loop()
        worker = raw.Worker(chat=flood)
        async with raw.stand(worker, write_stall_timeout_secs=120.0, **SLOT) as stand:
            plain = socket.socket()
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            plain.setblocking(False)
            await loop.sock_connect(plain, ("127.0.0.1", stand.router.port))
            body = b'{"model":"qwen","stream":true}'
            await loop.sock_sendall(
                plain,
                b"POST /v1/chat/completions HTTP/1.1\r\nhost: r\r\ncontent-length: %d\r\n\r\n%b"
                % (len(body), body),
            )
            await asyncio.sleep(60)
            assert (await (await stand.connect()).ask())[0] == 429
            worker.chat = raw.whole(200)
            await asyncio.sleep(70)
            assert taken(stand) == 0
            assert (await (await stand.connect()).ask())[0] == 200
            plain.close()

    run(main())


@pytest.mark.parametrize(
    "end", ["whole", "refused", "cut", "malformed", "late", "wrong", "unknown"]
)
def test_a_slot_comes_back_once(raw, end):
    """After an answer, after a failure of the worker's or of the client's: never twice, never not."""

    async def close(reader, writer):
        writer.close()

    async def never(reader, writer):
        await reader.read()

    plays = {"cut": close, "malformed": b"SSH-2.0\r\n\r\n", "late": never}
    body = {"wrong": b"[]", "unknown": b'{"model":"nobody"}'}.get(end, b'{"model":"qwen"}')

    async def main():
        worker = raw.Worker(chat=plays.get(end, raw.whole(200)))
        async with raw.stand(worker, request_timeout_secs=5.0, **SLOT) as stand:
            if end == "refused":
                await worker.stop()
            for _ in range(3):
                await (await stand.connect()).ask(body)
                assert taken(stand) == 0
            if end != "refused":
                worker.chat = raw.whole(200)
                assert (await (await stand.connect()).ask())[0] == 200

    run(main())


def test_a_capped_worker_is_asked_in_turn(raw):
    """Two of three wait for the one worker; each has its turn, in the order in which they came."""

    async def slow(reader, writer):
        await asyncio.sleep(10)
        writer.write(raw.whole(200))

    async def main():
        worker = raw.Worker(chat=slow)
        async with raw.stand(worker, worker_max_requests=1, queue_size=2) as stand:
            loop = asyncio.get_running_loop()
            began, times = loop.time(), {}

            async def ask(name):
                status, _, body = await (await stand.connect()).ask()
                times[name] = (status, round(loop.time() - began), body)

            async with asyncio.TaskGroup() as group:
                for name in "abcd":
                    group.create_task(ask(name))
                    await asyncio.sleep(0.01)
            assert [times[name][:2] for name in "abcd"] == [
                (200, 10),
                (200, 20),
                (200, 30),
                (429, 0),
            ]
            assert json.loads(times["d"][2])["error"]["code"] == "workers_full"
            assert stand.workers[0].in_flight == 0

    run(main())


def test_a_worker_that_joins_takes_from_the_line(raw):
    """Who waits for a busy worker is served by a late one as soon as it serves."""

    async def slow(reader, writer):
        await asyncio.sleep(500)
        writer.write(raw.whole(200))

    async def main():
        busy, late = raw.Worker(chat=slow), raw.Worker()
        await late.start()
        await late.stop()
        async with raw.stand(busy, worker_max_requests=1, wait=1.5) as stand:
            (await stand.connect()).send()
            await asyncio.sleep(0.1)
            waiting = asyncio.create_task((await stand.connect()).ask())
            await asyncio.sleep(1)
            await late.start()
            admin = await stand.connect()
            status, _, _ = await admin.ask(
                json.dumps({"url": late.url}).encode(), path=b"/workers", host=b"127.0.0.1"
            )
            assert status == 202
            assert (await waiting)[0] == 200
            assert len(late.seen) == 1
            await late.stop()

    run(main())
