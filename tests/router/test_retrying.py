"""Requests that take more than one attempt."""

from __future__ import annotations

import asyncio
import socket
import sys

import pytest

from staticfire.clock.virtual import run
from staticfire.router.lines import Lines
from staticfire.router.outcome import Outcome

BUSY = b'{"error":{"message":"full","code":503}}'


def test_the_budget_holds_a_storm(raw):
    """Of many requests that want another worker at once only a share may; the others are told."""

    async def slow(reader, writer):
        await asyncio.sleep(10)
        writer.write(raw.whole(200))

    async def main():
        busy, slow_one = raw.Worker(chat=raw.whole(503, BUSY)), raw.Worker(chat=slow)
        async with raw.stand(busy, slow_one) as stand:
            clients = [await stand.connect() for _ in range(40)]
            answers = await asyncio.gather(*(client.ask() for client in clients))
            statuses = sorted(status for status, _, _ in answers)
            assert statuses == [200] * 28 + [503] * 12, "20 went there, 20 % of 40 came after them"
            budget = stand.router._dispatcher.budget
            assert (budget.live, budget.retrying) == (0, 0)

    run(main())


def test_a_leaver_gives_its_retry_back(raw):
    """A client that leaves in the pause before a retry leaves nothing behind."""

    async def main():
        workers = [raw.Worker(chat=raw.whole(503, BUSY)) for _ in range(3)]
        settings = {"retry_initial_backoff_ms": 10_000, "retry_jitter_factor": 0}
        async with raw.stand(*workers, **settings) as stand:
            client = await stand.connect()
            client.send()
            await asyncio.sleep(1)
            budget = stand.router._dispatcher.budget
            assert (budget.live, budget.retrying) == (1, 1)
            client.writer.close()
            await asyncio.sleep(1)
            assert (budget.live, budget.retrying) == (0, 0)
            assert all(worker.in_flight == 0 for worker in stand.workers)
            assert sum(len(worker.seen) for worker in workers) == 2

    run(main())


def test_every_attempt_starts_from_the_same_request(raw):
    """The second worker gets the very bytes that the first one got, its own address apart."""

    async def main():
        first, second = raw.Worker(chat=raw.whole(503, BUSY)), raw.Worker()
        async with raw.stand(first, second) as stand:
            client = await stand.connect()
            for _ in range(2):
                body = b'{"model": "qwen", "x": [1,  2]}'
                assert (await client.ask(body, b"X-Session-ID: s"))[0] == 200
            (head, asked), (other, again) = first.seen[0], second.seen[0]
            assert asked == again == body
            ports = b":%d" % first.port, b":%d" % second.port
            assert head.replace(ports[0], b"") == other.replace(ports[1], b"")

    run(main())


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells what was taken")
def test_a_close_that_crosses_the_request_is_not_seen(raw, monkeypatch):
    """A kept connection that the worker closes as the request goes out is replaced, unseen."""
    kept = []

    async def chat(reader, writer):
        kept.append(writer.get_extra_info("socket"))
        writer.write(raw.whole(200))

    def idle(lines):
        connection = honest(lines)
        if connection is not None:
            kept.pop().shutdown(socket.SHUT_RDWR)  # after the last look at it
        return connection

    honest = Lines.idle
    monkeypatch.setattr(Lines, "idle", idle)

    async def main():
        worker = raw.Worker(chat=chat)
        async with raw.stand(worker) as stand:
            client = await stand.connect()
            before = worker.connections
            for _ in range(3):
                assert (await client.ask())[0] == 200
            assert worker.connections == before + 3
            assert len(worker.seen) == 3
            assert stand.router.metrics.value("w00", Outcome.error) == 0

    run(main())


@pytest.mark.parametrize("again", [False, True])
def test_a_kept_connection_that_dies_with_the_request(raw, again):
    """A worker that took the request and closed without a word may have begun it: 502, asked once."""

    async def chat(reader, writer):
        if worker.seen[1:]:
            writer.close()
        else:
            writer.write(raw.whole(200))

    worker = raw.Worker(chat=chat)

    async def main():
        async with raw.stand(worker, retry_begun=again) as stand:
            client = await stand.connect()
            assert (await client.ask())[0] == 200
            assert (await client.ask())[0] == 502
            assert len(worker.seen) == 2, "nobody else is there, and nobody is asked twice"

    run(main())


def test_retry_after_as_a_date(raw):
    """A Retry-After that is a date is as good as seconds: waited out under the cap."""

    async def chat(reader, writer):
        if worker.seen[1:]:
            writer.write(raw.whole(200))
        else:
            writer.write(raw.whole(503, BUSY, b"retry-after: Thu, 01 Jan 2026 00:00:03 GMT"))

    worker = raw.Worker(chat=chat)

    async def main():
        loop = asyncio.get_running_loop()
        async with raw.stand(worker, wait=1.5) as stand:
            client = await stand.connect()
            began = loop.time()
            status, headers, _ = await client.ask()
            assert (status, headers[b"x-staticfire-attempts"]) == (200, b"2")
            assert loop.time() - began == pytest.approx(1.5)

    run(main())


def test_retries_are_counted_by_cause(raw):
    """The metric tells why requests were tried again."""

    async def main():
        busy, good = raw.Worker(chat=raw.whole(429, BUSY)), raw.Worker()
        async with raw.stand(busy, good) as stand:
            client = await stand.connect()
            for _ in range(4):
                assert (await client.ask())[0] == 200
            text = (await client.ask(path=b"/metrics", method=b"GET"))[2].decode()
            assert 'staticfire_retries_total{cause="backpressure"} 2' in text

    run(main())
