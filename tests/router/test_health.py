"""Who is in rotation, and when."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter

import pytest

from staticfire.clock.virtual import run


async def codes(client, n=1, body=b'{"model":"qwen"}', **kwargs):
    """The statuses, or the router's own codes, of `n` requests."""
    got = []
    for _ in range(n):
        status, headers, _ = await client.ask(body, **kwargs)
        got.append(headers.get(b"x-staticfire-error", b"%d" % status).decode())
    return got


def test_binds_at_once_and_says_why(raw):
    """Before anybody serves: liveness 200, readiness 503 with reasons, requests 503."""

    async def hang(reader, writer):
        await reader.read()

    async def main():
        worker = raw.Worker(probe=hang)
        async with raw.stand(worker, wait=3) as stand:
            client = await stand.connect()
            assert (await client.ask(path=b"/liveness", method=b"GET"))[0] == 200
            status, _, body = await client.ask(path=b"/readiness", method=b"GET")
            assert status == 503
            assert b"has not answered yet" in body
            assert str(worker.port).encode() not in body
            status, headers, _ = await client.ask()
            assert (status, headers[b"retry-after"]) == (503, b"1")
            assert headers[b"x-staticfire-error"] == b"no_worker_ready"
            assert (await client.ask(path=b"/v1/models", method=b"GET"))[2].count(b'"id"') == 0

    run(main())


def test_late_joiner(raw, caplog):
    """A worker that binds late joins within a second; the log says so in the fixed words."""
    caplog.set_level(logging.INFO, "staticfire.router")

    async def main():
        early, late = await raw.Worker().start(), await raw.Worker().start()
        await late.stop()
        late.server = object()
        async with raw.stand(early, late) as stand:
            client = await stand.connect()
            assert (await codes(client, 4)) == ["200"] * 4
            assert len(early.seen) == 4
            await asyncio.sleep(200)
            await late.start()
            await asyncio.sleep(1)
            assert stand.workers[1].serving
            await codes(await stand.connect(), 4)
            assert len(late.seen) == 2

    run(main())
    words = [record.getMessage() for record in caplog.records]
    assert "1 out of 2 unique hosts are healthy" in words
    assert "2 out of 2 unique hosts are healthy" in words
    assert words.count("Discovered model qwen on w00") == 1
    assert words.count("Discovered model qwen on w01") == 1


def test_late_first_worker_gets_its_turn(raw):
    """Who was configured first and came last stands in the order of ids, not of arrival."""

    async def main():
        late, early, other = await raw.Worker().start(), raw.Worker(), raw.Worker()
        await late.stop()
        late.server = object()
        async with raw.stand(late, early, other) as stand:
            client = await stand.connect()
            await codes(client, 3)
            await late.start()
            await asyncio.sleep(2)
            await codes(client, 6)
            assert len(late.seen) == 2

    run(main())


def test_new_sessions_go_to_late_joiners(raw):
    """Sessions of before stay where they are; new ones go to the late worker of their model."""

    async def main():
        early, late = await raw.Worker().start(), await raw.Worker().start()
        other = raw.Worker(models=("llama",))
        await late.stop()
        late.server = object()
        async with raw.stand(early, late, other, policy="sticky") as stand:
            client = await stand.connect()
            for number in range(6):
                await client.ask(b'{"model":"qwen"}', b"X-Session-Id: %d" % number)
            await late.start()
            await asyncio.sleep(2)
            for number in range(9):
                await client.ask(b'{"model":"qwen"}', b"X-Session-Id: %d" % number)
            assert (len(early.seen), len(late.seen), len(other.seen)) == (12, 3, 0)

    run(main())


def test_listing_at_each_check_probe_once(raw):
    """A worker that served is only listed; users' answers renew its proof for free."""

    async def main():
        worker = raw.Worker()
        async with raw.stand(worker) as stand:
            client = await stand.connect()
            for _ in range(20):
                await asyncio.sleep(60)
                await client.ask()
            assert worker.probes == 1

    run(main())


def test_leaves_after_two_failed_listings(raw):
    """One failed listing is forgiven, two in a row take the worker out, one good brings it back."""

    async def main():
        worker, other = raw.Worker(), raw.Worker()
        async with raw.stand(worker, other) as stand:
            mine = stand.workers[0]
            good, worker.listing = worker.listing, raw.whole(500, b"{}")
            await asyncio.sleep(9)
            assert mine.serving
            await asyncio.sleep(2)
            assert not mine.serving
            client = await stand.connect()
            assert await codes(client, 4) == ["200"] * 4
            assert len(worker.seen) == 0
            worker.listing = good
            await asyncio.sleep(3)
            assert mine.serving

    run(main())


@pytest.mark.parametrize("status", [429, 503])
def test_busy_never_removes(raw, status):
    """A worker whose listings are shed stays in rotation."""

    async def main():
        worker = raw.Worker()
        async with raw.stand(worker) as stand:
            worker.listing = raw.whole(status, b"{}")
            await asyncio.sleep(120)
            assert stand.workers[0].serving
            assert await codes(await stand.connect()) == ["200"]

    run(main())


def test_gone_model(raw):
    """A worker leaves its model's pool at once when it lists it no more; the model is unknown."""

    async def main():
        worker = raw.Worker()
        async with raw.stand(worker) as stand:
            client = await stand.connect()
            assert await codes(client) == ["200"]
            worker.models = ("llama",)
            await asyncio.sleep(11)
            assert await codes(client) == ["model_not_found"]
            await asyncio.sleep(2)
            assert await codes(client, body=b'{"model":"llama"}') == ["200"]

    run(main())


def test_unknown_model_until_all_have_listed(raw):
    """An unknown model is 503 while a configured worker has never listed, then 404 for good."""

    async def main():
        early, late = await raw.Worker().start(), await raw.Worker(models=("llama",)).start()
        await late.stop()
        late.server = object()
        async with raw.stand(early, late) as stand:
            client = await stand.connect()
            llama = b'{"model":"llama"}'
            status, headers, _ = await client.ask(llama)
            assert (status, headers[b"retry-after"]) == (503, b"1")
            assert headers[b"x-staticfire-error"] == b"workers_starting"
            await late.start()
            await asyncio.sleep(2)
            assert await codes(client, body=llama) == ["200"]
            assert await codes(client, body=b'{"model":"nobody"}') == ["model_not_found"]
            await late.stop()
            await asyncio.sleep(30)
            assert await codes(client, body=llama) == ["no_worker_ready"]
            assert await codes(client, body=b'{"model":"nobody"}') == ["model_not_found"]

    run(main())


def test_a_model_on_its_way_is_never_unknown(raw):
    """From the first connect to the proof, and through a restart, no request for it is a 404.

    Between a worker's listing and its proof lie seconds, in which the model must be known already.
    """

    async def hang(reader, writer):
        await reader.read()

    async def main():
        early, late = await raw.Worker().start(), raw.Worker(models=("llama",))
        late._own_a_port()
        late.server = object()
        said = []
        async with raw.stand(early, late, wait=0) as stand:
            client = await stand.connect()
            asks = asyncio.create_task(always(client, said))
            for _ in range(2):
                await asyncio.sleep(3)  # refused
                late.listing, late.probe = raw.whole(503), hang
                await late.start()
                await asyncio.sleep(3)  # loading
                late.listing = None
                await asyncio.sleep(10)  # listed, and not proven
                for task in tuple(late.tasks):
                    task.cancel()  # the probe that hangs is cut, the next one is answered
                late.probe = None
                await asyncio.sleep(20)
                assert said[-1] == "200"
                await late.stop()
            asks.cancel()
        assert set(said) == {"workers_starting", "no_worker_ready", "worker_unreachable", "200"}

    async def always(client, said):
        while True:
            said.extend(await codes(client, body=b'{"model":"llama"}'))
            await asyncio.sleep(0.25)

    run(main())


def test_pools_by_model(raw):
    """Requests go to their own model's workers; a worker with two models stands in two pools."""

    async def main():
        one = raw.Worker(models=("qwen",))
        two = raw.Worker(models=("qwen", "adapter"))
        async with raw.stand(one, two) as stand:
            client = await stand.connect()
            await codes(client, 3, body=b'{"model":"adapter"}')
            await codes(client, 1, body=b'{"model":"adapter@main"}')
            assert (len(one.seen), len(two.seen)) == (0, 4)
            await codes(client, 4)
            assert (len(one.seen), len(two.seen)) == (2, 6)
            body = (await client.ask(path=b"/v1/models", method=b"GET"))[2]
            assert Counter(body.split(b'"'))[b"qwen"] == 1
            assert Counter(body.split(b'"'))[b"adapter"] == 1

    run(main())
