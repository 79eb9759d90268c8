"""Slow answers: a slow first token, a queue, sleep, and a hang told apart."""

from __future__ import annotations

import asyncio

import pytest

from staticfire.clock import NS
from staticfire.clock.virtual import run
from staticfire.readiness import Settings, Status, Verdict, Watch, probe
from staticfire.readiness.watch import Memory

WORKS = b"vllm:num_requests_running 1\nvllm:num_requests_waiting 0\n"
IDLE = b"vllm:num_requests_running 0\nvllm:num_requests_waiting 0\n"
QUEUES = b"vllm:num_requests_running 8\nvllm:num_requests_waiting 30\n"


def after(seconds, raw):
    """An honest answer that takes its time."""

    async def play(transport):
        await asyncio.sleep(seconds)
        transport.write(raw.reply(200, raw.completion()))

    return play


def checked(fake, metrics=None, times=1, every=0.0, **settings):
    """The records of checks of a fresh watch, with the second at which each was there."""

    async def main():
        if metrics is not None:
            fake.accounts_of["/metrics"] = metrics
        async with fake:
            watch = Watch(fake.url, settings=Settings(**settings))
            loop, seen = asyncio.get_running_loop(), []
            for number in range(times):
                await asyncio.sleep(max(0.0, number * every - loop.time()))
                record = await watch.check()
                seen.append((round(loop.time(), 3), record))
            return seen

    return run(main())


def test_a_slow_first_token_is_waited_for(raw):
    """First token after 20 s, deadline 8 s: the engine says that it works, so it becomes ready."""
    fake = raw.Fake(after(20, raw))
    ((at, record),) = checked(fake, raw.reply(200, WORKS))
    assert (at, record.status) == (20.0, Status.READY)
    assert len(fake.at("POST")) == 1


def test_a_slow_first_token_without_an_account_is_reached_by_patience(raw):
    """No metrics: each probe that hung is given more time, and the fourth gets the answer."""
    fake = raw.Fake(after(20, raw))
    seen = checked(fake, times=20, every=5.0)
    assert seen[-1][1].status is Status.READY
    assert fake.at("POST") == [0.0, 15.0, 30.0, 46.0]


def test_the_budget_is_the_end_of_it(raw):
    """An engine that works for ever on two tokens is not waited for for ever."""
    fake = raw.Fake(raw.silent)
    ((at, record),) = checked(fake, raw.reply(200, WORKS), probe_budget=30.0)
    assert (at, record.status) == (30.0, Status.RUNNING)
    assert record.reason == "the model is listed; no whole answer within 30 s from chat"


def test_an_idle_engine_is_not_waited_for(raw):
    """It says that nothing runs: our request is not being worked on, and 8 s are enough."""
    fake = raw.Fake(raw.silent)
    ((at, record),) = checked(fake, raw.reply(200, IDLE))
    assert (at, record.status) == (8.0, Status.RUNNING)
    assert [t for t, path in fake.accounts if path == "/metrics"] == [1.0, 7.0]


def test_while_it_is_waited_for_the_window_is_closed(raw):
    """The record says before each stretch that the probe goes on."""

    async def main():
        fake = raw.Fake(raw.silent)
        fake.accounts_of["/metrics"] = raw.reply(200, WORKS)
        async with fake:
            watch = Watch(fake.url)
            task = asyncio.ensure_future(watch.check())
            await asyncio.sleep(20)
            closed = watch.record.next_probe
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            return closed

    assert run(main()) == 24 * NS


@pytest.mark.parametrize("word", ["asleep", "paused"])
def test_a_pause_ends_the_request_at_once(raw, word):
    """The engine says that it sleeps: no request is left waiting in it, and the reason is told."""
    fake = raw.Fake(raw.silent)
    route, key = {"asleep": ("/is_sleeping",) * 2, "paused": ("/is_paused",) * 2}[word]
    fake.accounts_of[route] = raw.reply(200, {key.strip("/"): True})
    ((at, record),) = checked(fake)
    assert (at, record.status, record.paused) == (1.0, Status.RUNNING, word)
    assert record.reason.startswith(f"{word}: ")
    assert not fake.transports


def test_a_pause_of_a_ready_engine_is_seen_before_a_probe_is_sent(raw):
    """The evidence has aged: its account is asked first, and a sleeper is sent nothing."""
    fake = raw.Fake()
    fake.accounts_of["/is_sleeping"] = raw.sequence(
        raw.reply(200, {"is_sleeping": True}), raw.reply(200, {"is_sleeping": False})
    )
    seen = checked(fake, times=3, every=20.0, fresh_for=20.0)
    assert [record.status for _, record in seen] == [Status.READY, Status.DEGRADED, Status.READY]
    assert fake.at("POST") == [0.0, 40.0]
    assert seen[1][1].latched


def test_a_renewal_does_not_queue_behind_users(raw):
    """Requests wait in the engine: the probe that is due is put off, the status stays."""
    fake = raw.Fake()
    fake.accounts_of["/metrics"] = raw.sequence(
        raw.reply(200, QUEUES), raw.reply(200, QUEUES), raw.reply(200, IDLE)
    )
    seen = checked(fake, times=4, every=20.0, fresh_for=20.0)
    assert {record.status for _, record in seen} == {Status.READY}
    assert fake.at("POST") == [0.0, 60.0]


def test_a_queue_that_stands_still_does_not_put_a_probe_off(raw):
    """Requests wait and no token is made: a probe is sent, and finds it wedged."""
    page = QUEUES + b"vllm:generation_tokens_total 100\n"
    fake = raw.Fake(raw.sequence(raw.reply(200, raw.completion()), raw.silent))
    seen = checked(fake, raw.reply(200, page), times=6, every=20.0, fresh_for=20.0)
    assert fake.at("POST") == [0.0, 40.0, 60.0, 80.0, 100.0]
    assert seen[-1][1].status is Status.DEGRADED


def test_a_queue_that_stands_still_is_seen_by_another_process(raw):
    """Whether tokens were made is in the record: every check may be a fresh watch's."""
    page = QUEUES + b"vllm:generation_tokens_total 100\n"

    async def main():
        fake = raw.Fake(raw.sequence(raw.reply(200, raw.completion()), raw.silent))
        fake.accounts_of["/metrics"] = raw.reply(200, page)
        settings = Settings(fresh_for=20.0)
        keeper = Memory(settings.limits)
        async with fake:
            for _ in range(4):
                await Watch(fake.url, settings=settings, keeper=keeper).check()
                await asyncio.sleep(20)
            return len(fake.at("POST"))

    assert run(main()) == 3


def test_an_unproven_engine_is_asked_though_others_wait(raw):
    """Only an answer can prove it: the request waits its turn instead of being aborted."""
    fake = raw.Fake(after(25, raw))
    ((at, record),) = checked(fake, raw.reply(200, QUEUES))
    assert (at, record.status) == (25.0, Status.READY)


def test_a_single_probe_keeps_its_deadline_and_tells_the_queue(raw):
    """`--deadline 8` means 8 s; a queue is the reason, and the verdict is busy."""

    async def main():
        fake = raw.Fake(raw.silent)
        fake.accounts_of["/metrics"] = raw.reply(200, QUEUES)
        async with fake:
            evidence = await probe(fake.url, "qwen")
            return evidence, asyncio.get_running_loop().time()

    evidence, took = run(main())
    assert (evidence.verdict, took) == (Verdict.BUSY, 8.0)
    assert evidence.reason == "busy: 30 requests wait in its own queue"


def test_a_quick_answer_asks_for_no_account(raw):
    """The honest case costs one list and one chat."""
    fake = raw.Fake()
    checked(fake, raw.reply(200, IDLE))
    assert [r.path for r in fake.requests] == ["/v1/models", "/v1/chat/completions"]


def test_an_address_that_swallows_connects_does_not_hide_the_next(raw):
    """A localhost is ::1 first, and something drops its packets: 127.0.0.1 is tried beside it."""
    import socket

    async def main():
        async with raw.Fake() as fake:
            loop = asyncio.get_running_loop()
            rows = [
                (socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, fake.port))
                for host in ("127.0.0.2", "127.0.0.1")
            ]

            async def resolve(*_, **__):
                return rows

            loop.getaddrinfo = resolve
            loop.swallow(("127.0.0.2", fake.port))
            evidence = await probe(f"http://localhost:{fake.port}", "qwen")
            return evidence.verdict, loop.time()

    verdict, took = run(main())
    assert verdict is Verdict.SERVING
    assert took == 0.5  # a quarter of a second for each of the two requests


def test_a_redirect_gets_no_key(raw):
    """307 to another host: not followed, and that host sees nothing at all."""

    async def main():
        async with raw.Fake() as other, raw.Fake() as fake:
            fake.chat = raw.reply(307, headers=f"location: {other.url}/v1/chat/completions\r\n")
            evidence = await probe(
                fake.url, "qwen", headers=((b"authorization", b"Bearer s3cret"),)
            )
            return evidence.verdict, len(other.requests)

    assert run(main()) == (Verdict.MISCONFIGURED, 0)
