"""335 sticky sessions over 16 engines, two of which are up when the router starts."""

from __future__ import annotations

import asyncio
import time

from bench.figure import Figure
from staticfire import readiness
from staticfire.clock.virtual import run
from staticfire.engine import Capacity, MockEngine, Refuses, Script, Serving
from staticfire.judge import Judge
from staticfire.router import Router, Settings
from staticfire.stand.limits import lift_open_files

__all__ = ["TINY", "measure"]

TINY = {"runs": 1, "engines": 3, "count": 4, "each": 1, "late": 5.0}

TOKENS = 10
EARLY = 2


def measure(
    runs: int = 3, engines: int = 16, count: int = 335, each: int = 5, late: float = 172.0
) -> list[Figure]:
    lift_open_files()
    row = f"{count} sessions x {each} streams x {TOKENS} tokens, {EARLY} of {engines} engines early"
    figures = []
    for gated, pace in ((False, 0.0), (False, 0.02), (True, 0.0)):
        walls = []
        for _ in range(runs):
            began = time.perf_counter()
            run(_row(engines, count, each, late, pace=pace, gated=gated))
            walls.append(time.perf_counter() - began)
        how = "behind the gate" if gated else "without the gate"
        paced = f"a token each {pace * 1000:g} ms" if pace else "tokens unpaced"
        figures.append(Figure(row, "s", tuple(walls), 8.0, f"{how}, {paced}"))
    return figures


async def _row(
    engines: int, count: int, each: int, late: float, *, pace: float, gated: bool
) -> None:
    fleet = []
    for place in range(engines):
        life = [Serving()] if place < EARLY else [Refuses(seconds=late), Serving()]
        script = Script(model="qwen", life=life, capacity=Capacity(per_token=pace))
        fleet.append(await MockEngine(script, name=f"e{place:02}", seed=place).start())
    if gated:
        assert (await readiness.wait_for([engine.url for engine in fleet], timeout=600)).ok
    router = Router(Settings(tuple(engine.url for engine in fleet), policy="sticky", port=0))
    await router.start()
    client = Judge(router.url)
    expected = engines if gated else EARLY
    while sum(worker.serving for worker in router.workers) < expected:  # noqa: ASYNC110
        await asyncio.sleep(0.25)

    async def session(name: str) -> None:
        connection = client.connection()
        for _ in range(each):
            answer = await client.chat(
                "qwen", session=name, on=connection, stream=True, max_tokens=TOKENS
            )
            assert answer.ok, answer
            assert answer.done, answer
        connection.close()

    async with asyncio.TaskGroup() as group:
        for number in range(count):
            group.create_task(session(f"s{number:03}"))
    held = [{r.session for r in engine.journal.requests() if r.session} for engine in fleet]
    sizes = sorted(len(sessions) for sessions in held if sessions)
    assert (len(sizes), sum(sizes)) == (min(expected, count), count), sizes
    assert sizes[-1] - sizes[0] <= 1, sizes
    await router.stop()
    for engine in fleet:
        await engine.stop()
