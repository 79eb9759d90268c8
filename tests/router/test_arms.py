"""Outcome, breaker, metric: the same verdict on the JSON arm and on the stream arm."""

from __future__ import annotations

import asyncio

import pytest

from staticfire.clock.virtual import run
from staticfire.router.breaker import State
from staticfire.router.outcome import Outcome


def arm(raw, stream, status):
    """An answer of `status`; on the stream arm an error comes inside the stream of a 200."""
    if not stream or status == 200:
        if stream:
            return raw.sse + raw.chunk(b"data: a\n\ndata: [DONE]\n\n") + b"0\r\n\r\n"
        return raw.whole(status, b'{"error":{"message":"m"}}' if status >= 400 else raw.answer)
    told = b'data: {"error":{"message":"m","code":%d}}\n\ndata: [DONE]\n\n' % status
    return raw.sse + raw.chunk(told[:20]) + raw.chunk(told[20:]) + b"0\r\n\r\n"


ROWS = [
    (200, Outcome.success), (400, Outcome.client_error), (429, Outcome.backpressure),
    (503, Outcome.backpressure), (500, Outcome.error),
]  # fmt: skip


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("status", "outcome"), ROWS)
def test_metric_agrees_with_breaker(raw, stream, status, outcome):
    """Each outcome is counted once, and moves the breaker as its name says."""

    async def main():
        worker = raw.Worker(chat=raw.whole(500, b"{}"))
        async with raw.stand(worker) as stand:
            client = await stand.connect()
            await client.ask()
            breaker = stand.workers[0].breaker
            assert breaker.streak == 1
            worker.chat = arm(raw, stream, status)
            await client.ask()
            metrics = stand.router.metrics
            counted = {one: metrics.value("w00", one) for one in Outcome}
            expected = dict.fromkeys(Outcome, 0)
            expected[Outcome.error] = 1
            expected[outcome] += 1
            assert counted == expected
            streaks = {Outcome.error: 2, Outcome.backpressure: 1}
            assert breaker.streak == streaks.get(outcome, 0)
            text = (await client.ask(path=b"/metrics", method=b"GET"))[2].decode()
            row = f'{{worker="w00",model="qwen",outcome="{outcome.value}"}} {expected[outcome]}.0'
            assert f"staticfire_worker_requests_total{row}" in text

    run(main())


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("status", [429, 503])
def test_the_sole_worker_is_never_shed(raw, stream, status):
    """A sole worker that sheds far past the threshold is asked again, and serves at once."""

    async def main():
        worker = raw.Worker(chat=arm(raw, stream, status))
        async with raw.stand(worker) as stand:
            client = await stand.connect()
            for _ in range(stand.router.settings.cb_failure_threshold * 5):
                answer = await client.ask()
                assert answer[0] == (200 if stream else status)
                assert b"x-staticfire-error" not in answer[1]
            assert stand.workers[0].breaker.state is State.closed
            worker.chat = raw.whole(200)
            assert (await client.ask())[2] == raw.answer

    run(main())


@pytest.mark.parametrize("stream", [False, True])
def test_errors_open(raw, stream):
    """A streak of errors opens on both arms; then the answer is our own, with Retry-After."""

    async def main():
        worker = raw.Worker(chat=arm(raw, stream, 500))
        async with raw.stand(worker) as stand:
            client = await stand.connect()
            breaker, asked = stand.workers[0].breaker, 0
            now = int(asyncio.get_running_loop().time() * 1e9)
            while breaker.would_admit(now):
                await client.ask()
                asked += 1
            assert asked == stand.router.settings.cb_failure_threshold
            status, headers, _ = await client.ask()
            assert (status, headers[b"x-staticfire-error"]) == (503, b"workers_resting")
            assert headers[b"retry-after"] == b"30"
            assert len(worker.seen) == asked
            worker.chat = raw.whole(503, b"{}")
            await asyncio.sleep(30)
            assert (await client.ask())[0] == 503
            assert breaker.state is State.closed, "a shed probe proves life"

    run(main())


def test_declared_client_error(raw):
    """A 500 whose body declares a 400 is the client's, also when it arrives in pieces."""

    async def chat(reader, writer):
        answer = raw.whole(500, b'{"error":{"message":"too long","code":400}}')
        writer.write(answer[:-20])
        await asyncio.sleep(1)
        writer.write(answer[-20:])

    async def main():
        async with raw.stand(raw.Worker(chat=chat)) as stand:
            client = await stand.connect()
            assert (await client.ask())[0] == 500
            assert stand.router.metrics.value("w00", Outcome.client_error) == 1

    run(main())


def test_resting_worker_is_passed_over(raw):
    """While one worker rests, the others of its model get everything."""

    async def main():
        bad, good = raw.Worker(chat=raw.whole(500, b"{}")), raw.Worker()
        async with raw.stand(bad, good) as stand:
            client = await stand.connect()
            while stand.workers[0].breaker.state is State.closed:
                await client.ask()
            asked = len(bad.seen)
            for _ in range(10):
                assert (await client.ask())[0] == 200
            assert len(bad.seen) == asked
            status, _, _ = await client.ask(path=b"/readiness", method=b"GET")
            assert status == 200, "breakers do not count for readiness"

    run(main())
