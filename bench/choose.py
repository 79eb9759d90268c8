"""What choosing a worker costs, and how that grows with the fleet."""

from __future__ import annotations

import time

from bench.figure import Figure
from staticfire import readiness
from staticfire.router.asked import Asked
from staticfire.router.breaker import BreakerSettings
from staticfire.router.ledger import Ledger
from staticfire.router.outcome import Outcome
from staticfire.router.policies import POLICIES, PolicySettings
from staticfire.router.pool import Pool
from staticfire.router.worker import Worker

__all__ = ["TINY", "measure"]

TINY = {"runs": 1, "count": 20, "few": 2, "many": 4, "cached": 4}

SESSIONS = 500
TURNS = tuple(
    b"You are a helpful assistant. " * 40 + b"user %d: " % user * 60 for user in range(50)
)


def measure(
    runs: int = 5, count: int = 5000, few: int = 10, many: int = 1000, cached: int = 64
) -> list[Figure]:
    figures = []
    for name in POLICIES:
        large = cached if name == "cache_aware" else many
        small_stand, large_stand = _stand(name, few), _stand(name, large)
        for stand in (small_stand, large_stand):
            _cost(*stand, count // 4)  # warm, not counted
        costs, ratios = [], []
        for _ in range(runs):
            small, big = _cost(*small_stand, count), _cost(*large_stand, count)
            costs.append(big)
            ratios.append(big / small)
        what = f"{name} among {large}"
        figures.append(Figure(what, "µs CPU", tuple(costs), None, "choice, load and its return"))
        figures.append(Figure(f"{what}, as a multiple of among {few}", "times", tuple(ratios), 5.0))
    return figures


def _stand(name: str, size: int) -> tuple[Pool, Ledger]:
    """A pool of workers that serve, with a request under way at every third one."""
    ledger = Ledger()
    pool = Pool("qwen", lambda: POLICIES[name](PolicySettings(seed=1)))
    for place in range(size):
        watch = readiness.Watch(f"http://127.0.0.1:{place + 1}")
        worker = Worker(f"w{place:02}", watch, BreakerSettings(), place=place)
        worker.pools = (pool,)
        pool.join(worker, "qwen")
        ledger.track(worker)
        if place % 3 == 0:
            ledger.took(worker, 0)
    return pool, ledger


def _cost(pool: Pool, ledger: Ledger, count: int) -> float:
    """µs of CPU for one request, with ten under way, sessions and prompts of all users."""
    asks = [
        Asked(b"/", session=f"s{number % SESSIONS}", prompt=TURNS[number % len(TURNS)])
        for number in range(count)
    ]
    held: list[Worker] = []
    begun = time.process_time()
    for now, asked in enumerate(asks):
        ledger.wake(now)
        worker = pool.choose(asked, (), now)
        assert worker is not None
        ledger.took(worker, now)
        held.append(worker)
        if len(held) > 10:
            ledger.settled(held.pop(0), Outcome.success, now)
    spent = time.process_time() - begun
    for worker in held:
        ledger.settled(worker, Outcome.success, count)
    return spent / count * 1e6
