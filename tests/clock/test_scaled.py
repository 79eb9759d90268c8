"""The loop whose seconds are shorter than real ones."""

from __future__ import annotations

import asyncio
import threading

from staticfire.clock import NS, REAL, current
from staticfire.clock.scaled import ScaledLoop


def played(main, rate=1000.0):
    """Run a coroutine on a scaled loop; its value, and the real seconds that it took."""
    with asyncio.Runner(loop_factory=lambda: ScaledLoop(rate)) as runner:
        runner.get_loop()
        began = REAL.now()
        return runner.run(main), (REAL.now() - began) / NS


def test_a_minute_at_a_thousand_takes_a_fraction_of_a_second():
    """Timers fall due in the loop's own seconds, never early."""

    async def main():
        loop = asyncio.get_running_loop()
        began = loop.time()
        await asyncio.sleep(60)
        return loop.time() - began

    passed, real = played(main())
    assert passed >= 60
    assert 0.06 <= real < 20


def test_the_clock_of_the_loop_is_its_time():
    """Whoever asks for the time gets that of the loop, and can set timers in it."""

    async def main():
        fired = asyncio.Event()
        clock = current()
        clock.call_at(clock.now() + 5 * NS, fired.set)
        before = clock.now()
        await fired.wait()
        early, loop_time, late = clock.now(), asyncio.get_running_loop().time(), clock.now()
        return early - before, early / NS - 1e-6 <= loop_time <= late / NS + 1e-6

    passed, between = played(main())[0]
    assert passed >= 5 * NS
    assert between


def test_at_rate_zero_time_stands_still_and_the_loop_runs():
    """No timer fires, not even a short one; what another thread hands over does."""

    async def main():
        clock, loop = current(), asyncio.get_running_loop()
        clock.rate = 0
        slept = asyncio.create_task(asyncio.sleep(0.001))
        await asyncio.sleep(0)
        before, handed = clock.now(), asyncio.Event()
        threading.Timer(0.05, lambda: loop.call_soon_threadsafe(handed.set)).start()
        await handed.wait()
        stood = clock.now() == before and not slept.done()
        clock.rate = 1000
        await slept
        return stood, clock.now() > before

    assert played(main())[0] == (True, True)


def test_a_change_of_rate_makes_no_jump():
    """Time goes on from where it was, wall time too."""

    async def main():
        clock = current()
        clock.rate = 0
        before = clock.now(), clock.wall()
        clock.rate = 50
        clock.rate = 0
        return [clock.now() - before[0], (clock.wall() - before[1]) * NS]

    grew = played(main())[0]
    assert all(0 <= one < 500 * NS for one in grew)
