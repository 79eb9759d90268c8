"""The connection of a check, in virtual time."""

from __future__ import annotations

import asyncio

from staticfire.clock.virtual import run
from staticfire.readiness import Settings, Status, Verdict, Watch, probe

FAILS = Settings(throttle=15.0)


def checked(fake, times=1, every=20.0):
    """So many checks of one watch; its record after each, and its requests with their ports."""

    async def main():
        async with fake:
            watch = Watch(fake.url, "qwen", settings=FAILS)
            seen = []
            for number in range(times):
                if number:
                    await asyncio.sleep(every)
                seen.append(await watch.check())
            await asyncio.sleep(0.1)
            return seen, len(fake.transports)

    seen, left = run(main())
    return seen, [(r.method, r.peer) for r in fake.requests], left


def test_a_probe_goes_where_its_listing_went(raw):
    """One connect a check, which is closed at its end, and another one for the next check."""
    seen, requests, left = checked(raw.Fake(raw.reply(503)), times=2)
    (get, first), (post, second), (_, third), (_, fourth) = requests
    assert (get, post) == ("GET", "POST")
    assert first == second
    assert third == fourth != first
    assert left == 0
    assert seen[-1].verdict is Verdict.BUSY


def test_a_listing_that_closes_its_connection_costs_a_second_one(raw):
    """Said in its head, or done without a word: the probe is not spent on a dead connection."""
    listed = raw.reply(200, {"data": [{"id": "qwen"}]})
    told = raw.reply(200, {"data": [{"id": "qwen"}]}, "connection: close\r\n")
    for models in (raw.then_close(listed), told):
        seen, requests, _ = checked(raw.Fake(models=models))
        assert [method for method, _ in requests] == ["GET", "POST"]
        assert requests[0][1] != requests[1][1]
        assert seen[0].status is Status.READY


def test_a_connection_that_dies_without_a_word_is_no_answer(raw):
    """It may have been closed before the request came: a fresh one tells."""
    play = raw.sequence(raw.then_close(b""), raw.reply(200, raw.completion()))
    seen, requests, _ = checked(raw.Fake(play))
    assert seen[0].status is Status.READY
    assert [method for method, _ in requests] == ["GET", "POST", "POST"]


def test_who_closes_each_time_is_asked_once_from_then_on(raw):
    """After the first time a watch takes a fresh connection for each probe."""
    seen, requests, _ = checked(raw.Fake(raw.then_close(b"")), times=3)
    assert [method for method, _ in requests] == [
        "GET", "POST", "POST", "GET", "POST", "GET", "POST",
    ]  # fmt: skip
    assert seen[-1].verdict is Verdict.BROKEN
    assert "connection lost" in seen[-1].reason


def test_a_cut_answer_is_not_asked_for_again(raw):
    """Its first byte shows that the request was seen."""
    seen, requests, _ = checked(raw.Fake(raw.then_close(b"HTTP/1.1 200 OK\r\n")))
    assert [method for method, _ in requests] == ["GET", "POST"]
    assert seen[0].verdict is Verdict.BROKEN


def test_a_single_probe_takes_two_connections(raw):
    """It has no later one to learn for, and asks nobody twice."""

    async def main():
        async with raw.Fake(raw.then_close(b"")) as fake:
            evidence = await probe(fake.url, "qwen")
            return evidence, [(r.method, r.peer) for r in fake.requests]

    evidence, requests = run(main())
    assert [method for method, _ in requests] == ["GET", "POST"]
    assert requests[0][1] != requests[1][1]
    assert evidence.verdict is Verdict.BROKEN
