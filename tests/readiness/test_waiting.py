"""Waiting for many engines, in virtual time."""

from __future__ import annotations

import asyncio
import socket
from contextlib import AsyncExitStack

import pytest

from staticfire.clock import NS
from staticfire.clock.virtual import run
from staticfire.errors import WrongInput
from staticfire.readiness import Target, wait_for


def reserve():
    """A port that is ours and refuses; the socket keeps it."""
    owner = socket.socket()
    owner.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    owner.bind(("127.0.0.1", 0))
    return owner, owner.getsockname()[1]


async def wait(fakes, **kwargs):
    """Start the fakes, wait for them, stop them."""
    changes = []
    async with AsyncExitStack() as stack:
        for fake in fakes:
            await stack.enter_async_context(fake)
        urls = [fake.url for fake in fakes]
        waited = await wait_for(urls, on_change=changes.append, **kwargs)
    return waited, changes


def test_the_seed_case_opens_at_12_seconds(raw):
    """One binds 12 s late, one answers 503 for 8 s: it opens at exactly 12 s, not at the first."""

    async def main():
        late, busy = raw.Fake(), raw.Fake(raw.reply(503))
        late.reserve()
        late.bind_at(12)
        loop, changes = asyncio.get_running_loop(), []
        loop.call_at(8, lambda: setattr(busy, "chat", raw.reply(200, raw.completion())))
        async with busy:
            urls = [late.url, busy.url]
            waited = await wait_for(urls, timeout=4200, on_change=changes.append)
            await late.__aexit__()
        return waited, [(c.at / NS, c.count) for c in changes if c.there]

    waited, there = run(main())
    assert (waited.ok, waited.after) == (True, 12 * NS)
    assert there == [(8.0, 1), (12.0, 2)]


def test_all_is_the_default(raw):
    """Fifteen of sixteen are not enough; the missing one is named with why."""
    fakes = [raw.Fake() for _ in range(15)] + [raw.Fake(raw.reply(500))]
    waited, _ = run(wait(fakes, timeout=60))
    assert not waited.ok
    assert waited.after == 60 * NS
    assert [(t.url, why) for t, why in waited.missing] == [(fakes[15].url, "chat answered 500")]


def test_at_least_that_many_are_enough(raw):
    """Three of four, when three is what was asked for."""
    fakes = [raw.Fake() for _ in range(3)] + [raw.Fake(raw.silent)]
    waited, _ = run(wait(fakes, timeout=60, at_least=3))
    assert (waited.ok, waited.after, len(waited.there)) == (True, 0, 3)


def test_nothing_is_told_after_it_opened(raw):
    """The news ends with the one that was enough, so that the last line agrees with it."""
    waited, changes = run(wait([raw.Fake() for _ in range(5)], timeout=60, at_least=2))
    assert [change.count for change in changes] == [1, 2]
    assert len(waited.there) == 2


def test_slow_engines_cost_one_deadline(raw):
    """Fifty hung engines and one that serves: the fast one is known at once, all are judged at 8 s."""
    fakes = [raw.Fake(raw.silent) for _ in range(50)] + [raw.Fake()]
    waited, changes = run(wait(fakes, timeout=9))
    assert changes[0].at == 0
    assert changes[0].there
    assert {c.at for c in changes[1:]} == {8 * NS}
    assert len(waited.missing) == 50


def test_a_timeout_within_a_probe_says_what_was_going_on(raw):
    """The wait ends on time though a probe is open, and the reason is not an old one."""
    waited, _ = run(wait([raw.Fake(raw.silent), raw.Fake(models=raw.silent)], timeout=1))
    assert waited.after == 1 * NS
    assert [why for _, why in waited.missing] == [
        "the model is listed; its chat has not answered yet",
        "no answer yet",
    ]


def test_an_engine_that_dies_while_others_load_is_missing_again(raw):
    """All have to be there at the same time."""

    async def main():
        dies, loads = raw.Fake(), raw.Fake(raw.reply(503))
        loop = asyncio.get_running_loop()
        closing = []
        async with dies, loads:
            loop.call_at(5, lambda: closing.append(asyncio.ensure_future(dies.__aexit__())))
            loop.call_at(30, lambda: setattr(loads, "chat", raw.reply(200, raw.completion())))
            return await wait_for([dies.url, loads.url], timeout=60)

    waited = run(main())
    assert not waited.ok
    assert [why for _, why in waited.missing] == ["connection refused"]


@pytest.mark.parametrize(
    ("until", "health", "models", "chat", "ok"),
    [
        ("health", 200, 503, 503, True),
        ("health", 503, 200, 200, False),
        ("listed", 503, 200, 503, True),
        ("listed", 200, 503, 200, False),
        ("serving", 503, 200, 200, True),
        ("serving", 200, 200, 503, False),
    ],
)
def test_until_says_what_is_asked(raw, until, health, models, chat, ok):
    """Health looks at /health, listed at the list, serving at list and chat; nothing else."""
    fake = raw.Fake(raw.reply(chat, raw.completion()))
    fake.health = raw.reply(health)
    if models != 200:
        fake.models = raw.reply(models)
    waited, _ = run(wait([fake], timeout=5, until=until))
    assert waited.ok is ok


def test_each_target_has_its_own_until(raw):
    """A prefill leg is there when it is healthy, a worker when it serves."""

    async def main():
        async with raw.Fake(raw.reply(503)) as leg, raw.Fake() as worker:
            targets = [Target(leg.url, "health"), Target(worker.url, "serving", "qwen")]
            return await wait_for(targets, timeout=5)

    assert run(main()).ok


def test_a_url_twice_counts_once(raw):
    """Two spellings of one address are one engine."""

    async def main():
        async with raw.Fake() as fake:
            return await wait_for([fake.url, fake.url + "/"], timeout=5)

    waited = run(main())
    assert len(waited.there) == 1


def test_news_is_told_once(raw):
    """A minute of the same answer is one change."""
    _, changes = run(wait([raw.Fake(raw.reply(503))], timeout=60))
    assert len(changes) == 1


def test_a_failing_chat_is_not_asked_every_second(raw):
    """The gate looks every second and keeps the throttle of 15 s."""
    fake = raw.Fake(raw.reply(500))
    run(wait([fake], timeout=44))
    assert fake.at("POST") == [0.0, 15.0, 30.0]


def test_a_long_gate_is_cheap(raw):
    """4,200 s of a refused port on a one-second beat end on time."""

    async def main():
        owner, port = reserve()
        with owner:
            return await wait_for([f"http://127.0.0.1:{port}"], timeout=4200)

    waited = run(main())
    assert waited.after == 4200 * NS


@pytest.mark.parametrize(
    ("targets", "more", "told"),
    [
        ([], {}, "at least one URL"),
        (["http://a:1"], {"at_least": 2}, "a number from 1 to 1"),
        (["http://a:1"], {"at_least": 0}, "a number from 1 to 1"),
        (["http://a:1"], {"until": "healthy"}, 'did you mean "health"'),
        (["a:1"], {}, "expected a URL"),
    ],
)
def test_what_cannot_be_waited_for_is_refused(targets, more, told):
    """Wrong input is told before anything is sent."""
    with pytest.raises(WrongInput, match=told):
        run(wait_for(targets, timeout=1, **more))


def test_a_look_right_before_a_due_probe_is_left_out(raw):
    """A busy engine that takes a moment is asked for its list once a probe, not twice."""

    async def main():
        async def slow(transport):
            await asyncio.sleep(0.1)
            transport.write(raw.reply(503))

        fake = raw.Fake(slow)
        await wait([fake], timeout=20, interval=2.0)
        return fake.at("GET"), fake.at("POST")

    lists, chats = run(main())
    assert lists == chats
    assert len(chats) == 10
