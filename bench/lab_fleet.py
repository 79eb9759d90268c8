"""The peer lab's scenarios f to h, n, o and t: workers that are late, unwell, dead or back."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from bench.lab_stand import MODEL, Lab, in_words, row, told
from staticfire.engine import Refuses, Serving


async def late(seconds: float, **settings: Any) -> str:
    async with Lab((), (Refuses(seconds=seconds), Serving()), **settings) as lab:
        failed = 0
        while not lab.got(1):
            failed += not (await lab.ask()).ok
            await asyncio.sleep(0.1)
        return f"traffic {lab.now + 2 - seconds:.1f} s after bind, {failed} errors"  # 2 s waited


@row("f", "W1 binds 12 s late, check interval 2 s")
async def _() -> str:
    return await late(12, health_check_interval_secs=2)


@row("f2", "W1 binds 25 s late, all defaults")
async def _() -> str:
    return await late(25)


@row("f3", "W1 binds an hour late")
async def _() -> str:
    async with Lab((), (Refuses(seconds=3600), Serving())) as lab:
        await asyncio.sleep(3600)
        for _ in range(4):
            await lab.ask()
        return f"admitted: {lab.got(1)} of 4 requests"


@row("f4", "W1 serves another model, and binds 12 s late")
async def _() -> str:
    lives = (), (Refuses(seconds=12), Serving())
    async with Lab(*lives, models=(MODEL, "model-b")) as lab:
        early = await lab.ask(model="model-b")
        await asyncio.sleep(15)
        for _ in range(10):
            await lab.ask()
            await lab.ask(model="model-b")
        got = lab.got(0), lab.got(1)
        unknown = await lab.ask(model="model-c")
        lab.engines[1].kill()
        await asyncio.sleep(30)
        gone = await lab.ask(model="model-b")
    return (
        f"{told(early)} until it has listed, then W1 only ({got[0]}/{got[1]}); "
        f"{told(gone)} when W1 is gone; a model of nobody {told(unknown)}"
    )


async def unwell(*, before: bool) -> str:
    """How many of the requests of 8 s go to W1, whose /health says 503 in that time."""
    lab = Lab((), ())
    if before:
        lab.does("answers health with 503", 1)
    async with lab:
        if not before:
            lab.does("answers health with 503", 1)
        bad = 0
        while lab.now < 8:
            bad += not (await lab.ask()).ok
            await asyncio.sleep(0.1)
        return f"{lab.got(1)} of {lab.got(0) + lab.got(1)} to W1, {bad} errors"


@row("g", "W1 /health 503 for 8 s, chat works")
async def _() -> str:
    at_start, mid_run = await unwell(before=True), await unwell(before=False)
    assert at_start == mid_run
    return f"not looked at, at start or mid-run: {mid_run}"


@row("h", "W1 ready, lists models, chat hangs 20 s")
async def _() -> str:
    async with Lab((), ()) as lab:
        lab.does("never answers chat for 20 seconds", 1)
        answers = await asyncio.gather(*(lab.ask(deadline=21) for _ in range(48)))
        slow = sum(not answer.ok for answer in answers)
        return f"{slow} of 48 hang, if it was proven before; a worker that hangs at its probe never joins"


@row("n", "335 sessions, 2 of 16 up, then 16 (sticky)")
async def _() -> str:
    lives = [(), *([()] * 1), *([(Refuses(seconds=60), Serving())] * 14)]
    async with Lab(*lives, policy="sticky") as lab:

        async def wave(prefix: str) -> None:
            for number in range(335):
                await lab.judge.chat(MODEL, session=f"{prefix}{number}", max_tokens=1)

        await wave("a")
        early = [lab.got(n) for n in range(2)]
        await asyncio.sleep(70)
        await wave("a")
        moved = sum(lab.got(n) for n in range(2, 16))
        await wave("b")
        late = [lab.got(n) for n in range(2, 16)]
        return f"{early[0]}/{early[1]}; then {moved} move, new ones go to late workers: {min(late)}-{max(late)} each"


@row("o", "W1 killed, back on its port 6 s later (2 workers)")
async def _() -> str:
    async with Lab((), ()) as lab:
        bad = 0
        lab.engines[1].kill()
        while lab.now < 6:
            bad += not (await lab.ask()).ok
            await asyncio.sleep(0.1)
        before = lab.got(1)
        lab.engines[1].restart()
        while lab.got(1) == before:
            bad += not (await lab.ask()).ok
            await asyncio.sleep(0.1)
        return f"{bad} errors; back {lab.now - 6:.1f} s after bind"


@row("o2", "only worker killed, back after 6 s")
async def _() -> str:
    async with Lab() as lab:
        lab.engines[0].kill()
        seen: Counter[str] = Counter()
        while lab.now < 6:
            seen[told(await lab.ask())] += 1
            await asyncio.sleep(0.5)
        lab.engines[0].restart()
        _, at = await lab.until_ok(0.1)
        return f"{in_words(seen)}; ok {at - 6:.1f} s after bind"


@row("t", "all workers dead at start, up at 15 s")
async def _() -> str:
    async with Lab((Refuses(seconds=15), Serving())) as lab:
        first = await lab.ask()
        ready = await lab.judge.ask("GET", "/readiness")
        _, at = await lab.until_ok(0.1)
        return f"binds at once; {told(first)}, readiness {ready.status}; ok {at - 15:.1f} s after"


@row("t2", "all dead for an hour, then up")
async def _() -> str:
    async with Lab((Refuses(seconds=3600), Serving())) as lab:
        await asyncio.sleep(3590)
        late = await lab.ask()
        _, at = await lab.until_ok(0.1)
        return f"keeps running; {told(late)}; ok {at - 3600:.1f} s after bind"
