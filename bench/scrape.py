"""How long a scrape keeps the loop from other work, with a large fleet."""

from __future__ import annotations

import asyncio
import time

from bench.figure import Figure
from staticfire.router import Router, Settings
from staticfire.router.breaker import State
from staticfire.router.metrics import STREAM_ENDS, Metrics
from staticfire.router.outcome import Outcome

__all__ = ["TINY", "measure"]

TINY = {"runs": 1, "size": 10}


def measure(runs: int = 5, size: int = 1000) -> list[Figure]:
    metrics = asyncio.run(_filled(size))
    longest, whole = [], []
    for _ in range(runs):
        began = time.perf_counter()
        pieces = _pieces(metrics)
        whole.append((time.perf_counter() - began) * 1e3)
        longest.append(max(pieces))
    what = f"a scrape with {size} workers"
    return [
        Figure(f"{what}, its longest piece", "ms", tuple(longest), 20.0, "the loop waits so long"),
        Figure(f"{what}, all of it", "ms", tuple(whole)),
    ]


async def _filled(size: int) -> Metrics:
    """The metrics of a router whose workers all had every outcome."""
    urls = tuple(f"http://127.0.0.1:{place + 1}" for place in range(size))
    metrics = Router(Settings(worker_urls=urls)).metrics
    for place in range(size):
        name = f"w{place:02}"
        for outcome in Outcome:
            metrics.attempt(name, "qwen", outcome)
        for end in STREAM_ENDS:
            metrics.stream(name, "qwen", end)
        metrics.moved(name, State.closed, State.open, "error")
    return metrics


def _pieces(metrics: Metrics) -> list[float]:
    """What each piece of a page takes, in milliseconds."""
    times = []
    pieces = metrics.pieces()
    while True:
        began = time.perf_counter()
        if next(pieces, None) is None:
            return times
        times.append((time.perf_counter() - began) * 1e3)
