"""One engine under watch, in virtual time."""

from __future__ import annotations

import asyncio
import itertools

from staticfire import clock
from staticfire.clock.virtual import run
from staticfire.readiness import Settings, Status, Watch


async def beat(watch, until, every=1.0):
    """Check on every beat up to `until` seconds; each change of status with its second."""
    loop, seen = asyncio.get_running_loop(), []
    while loop.time() <= until:
        tick = loop.time()
        record = await watch.check()
        if not seen or seen[-1][1] is not record.status:
            seen.append((loop.time(), record.status))
        due = tick + every * (int((loop.time() - tick) / every) + 1)
        await asyncio.sleep(due - loop.time())
    return seen


def test_listed_at_4_and_answering_at_364_is_running_until_then(raw):
    """Six minutes of loading: running all the time, probes never closer than 15 s, ready once.

    Without an account of the engine each probe waits longer than the one before, up to 30 s.
    """

    async def main():
        fake = raw.Fake(raw.silent)
        async with fake:
            fake.models = raw.reply(503)
            loop = asyncio.get_running_loop()
            loop.call_at(4, lambda: setattr(fake, "models", ("qwen",)))
            loop.call_at(364, lambda: setattr(fake, "chat", raw.reply(200, raw.completion())))
            watch = Watch(fake.url, "qwen")
            return await beat(watch, 400.0), fake.at("POST"), fake.at("GET")

    seen, chats, lists = run(main())
    assert [status for _, status in seen] == [Status.STARTING, Status.RUNNING, Status.READY]
    assert seen[1][0] <= 12.0
    assert 364.0 <= seen[2][0] <= 394.0
    gaps = [b - a for a, b in itertools.pairwise(chats)]
    assert min(gaps) >= 15.0
    assert 12 <= len(chats) <= 16
    assert lists[-1] == 400.0


def test_a_pass_is_not_repeated(raw):
    """Ready, then 200 checks: one chat request in total, a list each time."""

    async def main():
        async with raw.Fake() as fake:
            await beat(Watch(fake.url), 199.0)
            return len(fake.at("POST")), len(fake.at("GET"))

    assert run(main()) == (1, 200)


def test_old_evidence_is_renewed_by_one_probe(raw):
    """After 300 s one probe is sent, the status stays meanwhile."""

    async def main():
        async with raw.Fake() as fake:
            seen = await beat(Watch(fake.url), 500.0, every=5.0)
            return seen, fake.at("POST")

    seen, chats = run(main())
    assert [status for _, status in seen] == [Status.READY]
    assert chats == [0.0, 300.0]


def test_answered_traffic_sends_no_probe(raw):
    """Real replies renew the latch for free."""

    async def main():
        async with raw.Fake() as fake:
            watch = Watch(fake.url)
            for _ in range(10):
                await watch.check()
                await asyncio.sleep(200)
                watch.renew()
            return len(fake.at("POST"))

    assert run(main()) == 1


def test_a_busy_engine_is_asked_at_its_retry_after(raw):
    """429 with Retry-After 30 on a model that has not served: next probe at 30 s, not before."""

    async def main():
        busy = raw.reply(429, headers="retry-after: 30\r\n")
        fake = raw.Fake(raw.sequence(busy, raw.reply(200, raw.completion())))
        async with fake:
            seen = await beat(Watch(fake.url), 40.0)
            return seen, fake.at("POST")

    seen, chats = run(main())
    assert chats == [0.0, 30.0]
    assert seen == [(0.0, Status.RUNNING), (30.0, Status.READY)]


def test_five_checks_at_once_send_one_probe(raw):
    """One prober at a time: the others find the window closed."""

    async def main():
        async with raw.Fake(raw.silent) as fake:
            watch = Watch(fake.url)
            await asyncio.gather(*(watch.check() for _ in range(5)))
            return len(fake.at("POST"))

    assert run(main()) == 1


def test_a_check_waits_for_the_one_before_it(raw):
    """Two checks at once ask one after the other, so that no older answer overwrites a newer."""

    async def main():
        async with raw.Fake(raw.silent) as fake:
            watch = Watch(fake.url)
            await asyncio.gather(watch.check(), watch.check())
            return fake.at("GET")

    assert run(main()) == [0.0, 8.0]


def test_a_check_that_is_cancelled_keeps_the_throttle(raw):
    """A prober killed in mid-probe leaves the window closed for 15 s from its start."""

    async def main():
        async with raw.Fake(raw.silent) as fake:
            watch = Watch(fake.url)
            task = asyncio.ensure_future(watch.check())
            await asyncio.sleep(2)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            assert not watch.probing
            await watch.check()
            return len(fake.at("POST")), watch.plan(clock.ns(15)).probe

    assert run(main()) == (1, True)


def test_a_restart_behind_our_back_has_to_prove_itself(raw):
    """Refused once, then listed again: a new generation, one more chat, then ready."""

    async def main():
        fake = raw.Fake()
        async with fake:
            watch = Watch(fake.url)
            first = await watch.check()
        gone = await watch.check()
        fake.chat = raw.silent
        async with fake:
            again = await watch.check()
            fake.chat = raw.reply(200, raw.completion())
            await asyncio.sleep(15)
            proven = await watch.check()
        return first, gone, again, proven

    first, gone, again, proven = run(main())
    assert (first.status, first.generation) == (Status.READY, 1)
    assert (gone.status, gone.generation, gone.routable) == (Status.STARTING, 2, True)
    assert (again.status, again.routable) == (Status.RUNNING, False)
    assert (proven.status, proven.generation, proven.routable) == (Status.READY, 2, True)


def test_refused_traffic_during_a_probe_voids_the_probe(raw):
    """A late pass of the life before does not make the new one ready."""

    async def main():
        async def slow(transport):
            await asyncio.sleep(3)
            transport.write(raw.reply(200, raw.completion()))

        async with raw.Fake(slow) as fake:
            watch = Watch(fake.url)
            asyncio.get_running_loop().call_later(1, watch.refused)
            return await watch.check()

    record = run(main())
    assert (record.generation, record.status) == (2, Status.STARTING)


def test_any_model_will_do_without_one(raw):
    """The first listed model is proven; when it goes, the next one has to prove itself."""

    async def main():
        fake = raw.Fake(raw.reply(200, raw.completion("a")), models=("a", "b"))
        async with fake:
            watch = Watch(fake.url)
            first = await watch.check()
            fake.models = ("b", "a")
            moved = await watch.check()
            fake.models, fake.chat = ("b",), raw.silent
            gone = await watch.check()
            return first, moved, gone, len(fake.at("POST"))

    first, moved, gone, chats = run(main())
    assert first.models == ("a", "b")
    assert (moved.status, moved.served_model) == (Status.READY, "a")
    assert (gone.status, gone.routable, gone.models) == (Status.RUNNING, False, ("b",))
    assert chats == 2


def test_a_wedged_engine_degrades(raw):
    """It lists and its chat hangs when the evidence has aged: two failed probes, then degraded."""

    async def main():
        fake = raw.Fake()
        async with fake:
            watch = Watch(fake.url, settings=Settings(fresh_for=30.0))
            asyncio.get_running_loop().call_later(5, setattr, fake, "chat", raw.silent)
            return await beat(watch, 60.0)

    seen = run(main())
    assert seen == [(0.0, Status.READY), (53.0, Status.DEGRADED)]
