"""The face of the library: what a launcher writes."""

from __future__ import annotations

import socket
import threading

import pytest

from staticfire.clock import NS
from staticfire.clock.virtual import run
from staticfire.readiness import (
    NotReady,
    Verdict,
    Watch,
    check_all,
    probe_sync,
    wait_ready,
    wait_ready_sync,
)


def test_waiting_ends_when_all_are_ready(raw):
    """URLs in, who is there out."""

    async def main():
        async with raw.Fake() as one, raw.Fake() as other:
            return await wait_ready(one.url, other.url, model="qwen", timeout=60)

    waited = run(main())
    assert (waited.ok, len(waited.there), waited.missing) == (True, 2, ())


def test_a_wait_that_ran_out_raises(raw):
    """A result that nobody looks at starts nothing: it is an exception, with who and why."""

    async def main():
        async with raw.Fake() as one, raw.Fake(raw.reply(500)) as other:
            with pytest.raises(NotReady) as caught:
                await wait_ready(one.url, other.url, timeout=30)
            return other.url, caught.value

    url, error = run(main())
    assert str(error) == f"1 of 2 not ready after 30 s: {url}: chat answered 500"
    assert error.waited.after == 30 * NS


@pytest.fixture
def nobody():
    """The URL of a port that refuses and stays ours."""
    with socket.socket() as owner:
        owner.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{owner.getsockname()[1]}"


def test_without_an_event_loop(nobody):
    """The same questions from plain code, and from a thread."""
    assert probe_sync(nobody, "qwen", deadline=2.0).verdict is Verdict.UNREACHABLE
    with pytest.raises(NotReady, match="connection refused"):
        wait_ready_sync(nobody, timeout=0.05)
    found = []
    thread = threading.Thread(target=lambda: found.append(probe_sync(nobody).verdict))
    thread.start()
    thread.join()
    assert found == [Verdict.UNREACHABLE]


def test_inside_an_event_loop_it_says_what_to_write(nobody):
    """A blocked loop is no answer."""

    async def main():
        with pytest.raises(RuntimeError, match=r"write `await probe\(...\)`"):
            probe_sync(nobody)
        with pytest.raises(RuntimeError, match=r"write `await wait_ready\(...\)`"):
            wait_ready_sync(nobody)

    run(main())


def test_ten_that_hang_cost_one_deadline(raw):
    """All are checked side by side, and what is known by then is the record."""

    async def main():
        import asyncio

        fakes = [raw.Fake(raw.silent) for _ in range(10)]
        for fake in fakes:
            await fake.__aenter__()
        records = await check_all([Watch(fake.url) for fake in fakes], within=3.0)
        took = asyncio.get_running_loop().time()
        for fake in fakes:
            await fake.__aexit__()
        return records, took

    records, took = run(main())
    assert {record.status for record in records} == {"running"}
    assert took == 3.0


def test_each_change_of_a_watch_is_shown_once(raw):
    """`on_show` hears transitions, not checks."""

    async def main():
        shown = []
        async with raw.Fake() as fake:
            watch = Watch(fake.url, on_show=shown.append)
            for _ in range(5):
                await watch.check()
        await watch.check()
        return [(show.before.value, show.status.value) for show in shown]

    assert run(main()) == [("starting", "running"), ("running", "ready"), ("ready", "starting")]
