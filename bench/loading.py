"""Ten virtual minutes of an engine that is listed and never answers chat."""

from __future__ import annotations

import itertools
import time

from bench.figure import Figure
from staticfire import readiness
from staticfire.clock import NS
from staticfire.clock.virtual import run
from staticfire.engine import Loading, MockEngine, NeverAnswers, Script, Serving

__all__ = ["TINY", "measure"]

TINY = {"runs": 1, "seconds": 40.0}

THROTTLE = 15.0


def measure(runs: int = 7, seconds: float = 600.0) -> list[Figure]:
    figures = []
    for interval, who in ((1.0, "a gate"), (5.0, "a service")):
        walls, probes, listings = [], 0, 0
        for _ in range(runs):
            began = time.perf_counter()
            probes, listings = run(_wait(seconds, interval))
            walls.append(time.perf_counter() - began)
        what = f"{seconds:g} virtual seconds of a loading engine"
        note = f"looked at each {interval:g} s, as {who} does: {listings} listings, {probes} probes"
        figures.append(Figure(what, "s", tuple(walls), 0.3, note))
    return figures


async def _wait(seconds: float, interval: float) -> tuple[int, int]:
    """Wait for the engine to serve; how many probes and listings that took."""
    life = [Loading(seconds=seconds, listed=True, chat=NeverAnswers()), Serving()]
    async with MockEngine(Script(model="qwen", life=life)) as engine:
        waited = await readiness.wait_for(
            [engine.url],
            timeout=seconds + 60,
            interval=interval,
            settings=readiness.Settings(throttle=THROTTLE),
        )
        probes = [request.at for request in engine.journal.requests("POST /v1/chat/completions")]
        gaps = [later - sooner for sooner, later in itertools.pairwise(probes)]
        assert waited.ok
        assert waited.after >= seconds * NS
        assert min(gaps) >= THROTTLE * NS, "a probe came too soon"
        return len(probes), len(engine.journal.requests("GET /v1/models"))
