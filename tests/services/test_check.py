"""One throttled check of a service, in virtual time."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from staticfire.clock import NS, current, ns
from staticfire.clock.virtual import run
from staticfire.engine import (
    Answers,
    Loading,
    MockEngine,
    NeverAnswers,
    Refuses,
    Rule,
    Serving,
)
from staticfire.errors import WrongInput
from staticfire.readiness import Status
from staticfire.readiness.evidence import Evidence, Identity
from staticfire.readiness.record import Record
from staticfire.readiness.verdict import Source, Verdict
from staticfire.services.check import Checker, Keeper, promoted
from staticfire.services.service import Lease, Patience

CHAT = "POST /v1/chat/completions"
LOADS = (Loading(chat=NeverAnswers()),)


def chats(engine: MockEngine) -> list[float]:
    """When chat requests came, in seconds."""
    return [r.at / NS for r in engine.journal.requests(CHAT)]


def test_an_engine_that_serves_is_ready_with_its_smoke_test(room):
    """The first answered probe of a life is the strict smoke test, its time is kept."""

    async def main():
        await room.serve("a", Serving())
        checked = await Checker(room.store, room.host).check("a")
        await room.close()
        return checked

    service = run(main()).service
    assert service.status is Status.READY
    assert service.life.smoked is not None
    assert service.life.answered_in is not None
    assert room.store.get("a") == service
    assert any("ready: chat answered 200" in line for line in service.history)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (Answers(400), "the wrong model came up"),
        (Answers(200, body='{"model": "other", "choices": [{}]}'), "another model answered"),
        (Answers(200, body='{"choices": [{}]}'), "does not say which model"),
    ],
)
def test_the_smoke_test_is_strict(room, rule, words):
    """What `proven` would pass, or another model's answer, is a wrong model: never ready."""

    async def main():
        await room.serve("a", Serving(), rules=[Rule("chat", rule)])
        checker = Checker(room.store, room.host)
        seen = []
        for _ in range(5):
            seen.append((await checker.check("a")).service.readiness)
            await asyncio.sleep(5)
        await room.close()
        return seen

    seen = run(main())
    assert not any(record.ready for record in seen)
    assert seen[-1].status is Status.MISCONFIGURED
    assert words in seen[-1].reason


def test_after_the_smoke_test_refusals_on_merits_prove_life(room):
    """A 400 to our renewal is an answer, once the right model has shown itself."""

    async def main():
        engine = await room.serve("a", Serving())
        checker = Checker(room.store, room.host)
        await checker.check("a")
        engine.add_rule(Rule("chat", Answers(400)))
        await asyncio.sleep(301)
        record = (await checker.check("a")).service.readiness
        count = len(chats(engine))
        await room.close()
        return record, count

    record, count = run(main())
    assert (record.status, count) == (Status.READY, 2)


def test_fresh_checkers_share_the_throttle(room):
    """Five checks in 14 s, each by a checker that knows nothing but the store: one request."""

    async def main():
        engine = await room.serve("a", *LOADS)
        for _ in range(5):
            check = Checker(room.store, room.host).check("a")
            await asyncio.wait_for(check, 20)
            await asyncio.sleep(1)
        seen = chats(engine)
        await room.close()
        return seen

    assert run(main()) == [0.0]


def test_a_prober_that_dies_halfway_leaves_the_window_shut(room):
    """The attempt is written before its request is sent: the next comes 15 s after that."""

    async def main():
        engine = await room.serve("a", *LOADS)
        first = asyncio.create_task(Checker(room.store, room.host).check("a"))
        await asyncio.sleep(1)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        lease = room.store.get("a").lease
        for second in range(2, 18):
            await asyncio.sleep(second - current().now() / NS)
            until = current().now() + ns(0.5)
            await Checker(room.store, room.host).check("a", until=until)
        seen = chats(engine)
        await room.close()
        return lease, seen

    lease, seen = run(main())
    assert lease is not None
    assert seen == [0.0, 15.0]


def test_many_checks_at_once_send_one_probe(room):
    """Eight checkers find the window open: one claims it."""

    async def main():
        engine = await room.serve("a", *LOADS)
        checks = [Checker(room.store, room.host).check("a") for _ in range(8)]
        await asyncio.gather(*checks)
        seen = chats(engine)
        await room.close()
        return seen

    assert run(main()) == [0.0]


def test_a_lease_of_the_dead_does_not_hold(room):
    """A lease of a pid that is gone, or is another's now, or that is over, is nobody's."""

    async def main():
        await room.serve("a", Serving())
        seen = []
        for lease in (Lease(2**22 + 5, 1, 10**15), Lease(1, 1, 10**15), Lease(1, 1, 0)):
            room.store.change("a", lambda s, x=lease: replace(s, lease=x, readiness=Record()))
            seen.append((await Checker(room.store, room.host).check("a")).service.status)
        await room.close()
        return seen

    assert run(main()) == [Status.READY] * 3


def test_a_probe_that_is_waited_for_longer_keeps_the_window_shut(room):
    """An engine that works on the probe is waited for; the store knows until when."""

    async def main():
        await room.serve("a", Serving())
        service = room.store.get("a")
        limits = service.patience.settings().limits
        keeper = Keeper(room.store, service, limits)
        now = keeper.now()
        evidence = Evidence(
            Verdict.LISTING, now, service.readiness.generation, source=Source.LISTING,
            named=True, model="qwen",
        )  # fmt: skip
        keeper.observe(evidence)
        assert keeper.begin(now) is not None
        assert keeper.begin(now) is None
        record = keeper.stretch(ns(40))
        other = Keeper(room.store, room.store.get("a"), limits)
        await asyncio.sleep(39)
        still = other.begin(other.now())
        await asyncio.sleep(2)
        after = other.begin(other.now())
        await room.close()
        return record.next_probe - now, still, after is not None

    assert run(main()) == (40 * NS, None, True)


def test_a_dead_process_is_asked_nothing(room):
    """It is failed, and whoever answers on its port is somebody else."""

    async def main():
        engine = await room.serve("a", Serving())
        checker = Checker(room.store, room.host)
        await checker.check("a")
        room.host.programs["a"].pids.append(999)  # its process is gone, the engine answers on
        before = len(engine.journal.requests())
        checked = await checker.check("a")
        asked = len(engine.journal.requests()) - before
        await room.close()
        return checked, asked

    checked, asked = run(main())
    assert asked == 0
    assert checked.service.status is Status.FAILED
    assert "its process is gone" in checked.service.readiness.reason


def test_a_foreign_server_is_never_ours(room):
    """Our process lives, another one answers on the port: not ready, told as such."""

    async def main():
        engine = await room.serve("a", Serving())
        room.host.programs["a"].owner = Identity(4242, 1)
        checked = await Checker(room.store, room.host).check("a")
        count = len(chats(engine))
        await room.close()
        return checked.service.readiness, count

    record, count = run(main())
    assert record.status is Status.MISCONFIGURED
    assert "not our process: pid 4242" in record.reason
    assert count == 0


def test_a_list_promotes(room):
    """Nothing stays at running without a supervisor: the next list finds it ready."""

    async def main():
        await room.serve("a", Loading(seconds=30, chat=NeverAnswers()), Serving())
        checker = Checker(room.store, room.host, promotes=True)
        seen = []
        for _ in range(4):
            seen.append((await checker.check("a")).service.status)
            await asyncio.sleep(16)
        await room.close()
        return seen

    seen = run(main())
    assert seen[0] is Status.RUNNING
    assert seen[-1] is Status.READY


@pytest.mark.parametrize(
    "trouble",
    [
        Rule("chat", Answers(500)),
        Rule("chat", NeverAnswers()),
        Rule("GET /v1/models", Answers(500)),
        Rule("GET /v1/models", NeverAnswers()),
        Rule("GET /v1/models", Answers(200, body='{"data": [{"id": "other"}]}')),
    ],
)
def test_a_list_never_demotes(room, trouble):
    """Ten lists of a ready service in trouble: its status stays, the finding is shown."""

    async def main():
        engine = await room.serve("a", Serving())
        await Checker(room.store, room.host).check("a")
        before = room.store.get("a").readiness
        engine.add_rule(trouble)
        await asyncio.sleep(400)
        checker = Checker(room.store, room.host, promotes=True)
        for _ in range(10):
            checked = await checker.check("a")
            await asyncio.sleep(16)
        await room.close()
        return before, checked

    before, checked = run(main())
    after = checked.service.readiness
    sent = {"next_probe": None, "attempt_at": None}
    assert replace(after, **sent) == replace(before, **sent)
    assert checked.found is not None
    assert checked.found.verdict is not Verdict.SERVING


def test_a_list_keeps_the_throttle(room):
    """A probe that a list sent closes the window for everybody, also when it failed."""

    async def main():
        engine = await room.serve("a", Serving())
        await Checker(room.store, room.host).check("a")
        engine.add_rule(Rule("chat", Answers(500)))
        await asyncio.sleep(301)
        for _ in range(5):
            await Checker(room.store, room.host, promotes=True).check("a")
            await Checker(room.store, room.host).check("a")
            await asyncio.sleep(2)
        seen = chats(engine)
        await room.close()
        return seen

    assert run(main()) == [0.0, 301.0]


def test_promotion_cell_by_cell():
    """Better is kept, equal with proof is kept, everything else leaves the record as it was."""
    order = [Status.FAILED, Status.STARTING, Status.RUNNING, Status.DEGRADED, Status.READY]
    for old in order:
        for new in order:
            for proof in (Verdict.SERVING, Verdict.BROKEN):
                before = Record(status=old, passes=1, served_at=5)
                after = Record(status=new, passes=2, served_at=9, next_probe=77)
                kept = promoted(before, after, Evidence(proof, 3))
                better = order.index(new) > order.index(old)
                same = new is old and proof is Verdict.SERVING
                expected = after if better or same else replace(before, next_probe=77)
                assert kept == expected, (old, new, proof)


def test_the_key_is_read_for_each_check(room, tmp_path):
    """From the file, or from the environment that the service was started in; it is not stored."""

    async def main():
        file = tmp_path / "key"
        file.write_text("sesame-1\n")
        await room.serve("b", Serving())
        room.store.change("b", lambda s: replace(s, key_file=str(file)))
        checker = Checker(room.store, room.host)
        await checker.check("b")
        file.write_text("sesame-2")
        await checker.check("b")
        room.store.change(
            "b", lambda s: replace(s, key_file=None, key_env="KEY"), {"KEY": "sesame-3"}
        )
        await checker.check("b")
        file.unlink()
        room.store.change("b", lambda s: replace(s, key_file=str(file), key_env=None))
        with pytest.raises(WrongInput, match="api-key-file"):
            await checker.check("b")
        seen = [
            dict(r.headers)["authorization"]
            for r in room.host.programs["b"].engine.journal.requests("GET /v1/models")
        ]
        stored = str(room.store.all())
        await room.close()
        return seen, stored

    seen, stored = run(main())
    assert seen == ["Bearer sesame-1", "Bearer sesame-2", "Bearer sesame-3"]
    assert "sesame" not in stored


def test_the_boot_clock_throttles(room, monkeypatch):
    """The clock of the wall goes back an hour: 15 s of real time later there is a probe."""

    async def main():
        engine = await room.serve("a", *LOADS)
        checker = Checker(room.store, room.host)
        await checker.check("a")
        monkeypatch.setattr(type(current()), "wall", lambda self: 1e9)
        for _ in range(4):
            await checker.check("a")
            await asyncio.sleep(4)
        seen = chats(engine)
        await room.close()
        return seen

    assert run(main()) == [0.0, 16.0]


def test_a_check_ends_in_time(room):
    """A list that has eight seconds for everything takes eight, whoever hangs."""

    async def main():
        await room.serve("a", *LOADS, patience=Patience(probe_deadline=60, listing_deadline=30))
        began = current().now()
        until = began + ns(8)
        await Checker(room.store, room.host).check("a", until=until)
        took = (current().now() - began) / NS
        await room.close()
        return took

    assert run(main()) == 8.0


@pytest.mark.parametrize(("latch", "probes"), [(50.0, 3), (300.0, 1), (None, 1)])
def test_a_latch_is_the_services_own(room, latch, probes):
    """Every checker goes by it: after so long one request more, or never again."""

    async def main():
        engine = await room.serve("a", Serving(), patience=Patience(latch=latch))
        for _ in range(5):
            await Checker(room.store, room.host).check("a")
            await asyncio.sleep(30)
        assert len(chats(engine)) == probes
        await asyncio.sleep(3600)
        record = (await Checker(room.store, room.host).check("a")).service.readiness
        seen = chats(engine)
        await room.close()
        return record, seen

    record, seen = run(main())
    assert record.status is Status.READY
    assert len(seen) == probes + (latch is not None)


def test_a_refused_port_is_start_up(room):
    """Not bound yet, and its process lives: starting, and no attempt is counted."""

    async def main():
        await room.serve("a", Refuses(seconds=90), Serving())
        checked = await Checker(room.store, room.host).check("a")
        await room.close()
        return checked.service.readiness

    record = run(main())
    assert (record.status, record.attempt_at) == (Status.STARTING, None)
