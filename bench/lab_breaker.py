"""The peer lab's scenarios a to e: when a worker is shed, and when it is asked again."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from bench.lab_stand import Lab, in_words, row, told


async def shed(**settings: Any) -> str:
    async with Lab(**settings) as lab:
        lab.does("answers chat with 503 for 30 requests")
        failed, at = await lab.until_ok(0.05)
        return f"{await lab.opened()}; {failed} pass, ok at #{failed + 1} ({at:.1f} s)"


@row("a", "one worker, 503 x30 by count, no retries")
async def _() -> str:
    return await shed(disable_retries=True)


@row("a2", "same, default retries")
async def _() -> str:
    return await shed()


async def busy(**settings: Any) -> str:
    async with Lab(**settings) as lab:
        lab.does("answers chat with 503 for 3 seconds")
        failed, at = await lab.until_ok(0.05)
        return f"{await lab.opened()}; {failed} pass while it is busy, ok at {at:.1f} s"


@row("a3", "busy (503) 3 s, then idle, a rest of 4 s")
async def _() -> str:
    return await busy(cb_timeout_duration_secs=4)


@row("a4", "same, all defaults")
async def _() -> str:
    return await busy()


async def limited(status: int) -> str:
    async with Lab() as lab:
        lab.does(f"answers chat with {status} and retry-after 7 seconds")
        answers = [await lab.ask() for _ in range(22)]
        last = answers[-1]
        return (
            f"{lab.got()} attempts for 22 requests, passed with RA "
            f"{last.header('retry-after')}; neutral, {await lab.opened()}"
        )


@row("b", "429 + Retry-After 7")
async def _() -> str:
    return await limited(429)


@row("b2", "503 + Retry-After 7")
async def _() -> str:
    return await limited(503)


async def broken(**settings: Any) -> str:
    async with Lab(**settings) as lab:
        lab.does("answers chat with 500 for 20 seconds")
        seen = Counter([told(await lab.ask()) for _ in range(20)])
        got = lab.got()
        await asyncio.sleep(20 - lab.now)
        cured = lab.now
        _, at = await lab.until_ok(0.1)
        return f"opens after {got}: {in_words(seen)}; ok {at - cured:.1f} s after the cure"


@row("c", "500 for ever, then ok, no retries")
async def _() -> str:
    return await broken(disable_retries=True)


@row("c'", "same, default retries")
async def _() -> str:
    return await broken()


@row("c2", "two workers, W0 always 500, 60 requests")
async def _() -> str:
    async with Lab((), ()) as lab:
        lab.does("answers chat with 500")
        answers = [await lab.ask() for _ in range(60)]
        bad = sum(not answer.ok for answer in answers)
        return (
            f"{bad} errors (500 may have begun, so it is not sent again), W0 hit {lab.got()} times"
        )


async def streak(*statuses: int) -> str:
    async with Lab() as lab:
        for number in range(40):
            lab.does(f"answers chat with {statuses[number % len(statuses)]} for 1 request")
            await lab.ask()
            if lab.router.workers[0].breaker.state:
                return f"opens at {number + 1}"
        return "never opens"


@row("d", "500/503 alternating")
async def _() -> str:
    return await streak(500, 503)


@row("d'", "500/200 alternating, 40")
async def _() -> str:
    return await streak(500, 200)


@row("d''", "only 400 / 404 / 408 / 429")
async def _() -> str:
    return "; ".join([f"{status}: {await streak(status)}" for status in (400, 404, 408, 429)])


@row("d'''", "500/400 alternating")
async def _() -> str:
    return await streak(500, 400)


async def half_open(lab: Lab) -> None:
    lab.does("answers chat with 500 for 5 requests")
    for _ in range(5):
        await lab.ask()
    await asyncio.sleep(30)


@row("e", "half-open probe answered 503, then ok")
async def _() -> str:
    async with Lab() as lab:
        await half_open(lab)
        lab.does("answers chat with 503 for 1 request")
        at = lab.now
        await lab.ask()
        failed, ok = await lab.until_ok(0.1)
        return f"closes; ok {ok - at:.1f} s after the cool-down, {failed} shed"


@row("e2", "20 requests at once into half-open")
async def _() -> str:
    async with Lab() as lab:
        await half_open(lab)
        before = lab.got()
        lab.does("answers chat with 500 and waits 1 second before answering chat")
        seen = Counter(told(a) for a in await asyncio.gather(*(lab.ask() for _ in range(20))))
        return f"{lab.got() - before} admitted: {in_words(seen)}"


@row("e3", "half-open, worker says 429 for ever")
async def _() -> str:
    async with Lab() as lab:
        await half_open(lab)
        lab.does("answers chat with 429")
        for _ in range(10):
            await lab.ask()
        return f"closes ({lab.router.workers[0].breaker.state})"


@row("e4", "half-open probe whose client hangs up")
async def _() -> str:
    async with Lab() as lab:
        await half_open(lab)
        lab.does("never answers chat for 1 request")
        await lab.ask(deadline=1.0)
        return f"no wedge: {told(await lab.ask())}"
