"""The loop that keeps one worker's record fresh."""

from __future__ import annotations

import asyncio
import logging

from staticfire.clock import current
from staticfire.router.loads import ask_load
from staticfire.router.registry import Registry
from staticfire.router.settings import Settings
from staticfire.router.worker import Worker

__all__ = ["watch"]

log = logging.getLogger("staticfire.router")


async def watch(worker: Worker, registry: Registry, settings: Settings) -> None:
    """Check a worker for ever: often until it serves, at leisure while it does.

    A worker in rotation that was refused, or whose last listing failed, is in doubt: it is checked
    as often as one that does not serve yet, so that it leaves within seconds.

    One loop for each worker, so a slow one delays nobody, and there is no timeout after which a
    worker would be forgotten. A poke brings the next check forward, never closer than the short
    interval to the last one.
    """
    loop = asyncio.get_running_loop()
    while True:
        began = loop.time()
        try:
            await worker.watch.check()
        except Exception:  # a bug in one check must not end the watch of a worker
            log.exception("the check of %s failed", worker.id)
        registry.update(worker)
        if worker.serving and (worker.shedding.since is not None or reads_engine(worker)):
            try:
                deadline = current().now() + worker.watch.limits.listing_deadline
                said = await ask_load(worker, deadline)
                registry.ledger.account(worker, said, current().now())
            except Exception:
                log.exception("the load of %s could not be read", worker.id)
        short = settings.startup_check_interval_secs
        steady = (
            worker.serving
            and worker.watch.record.latched
            and not worker.watch.record.failed_listings
        )
        interval = settings.health_check_interval_secs if steady else short
        rest = began + interval - loop.time()
        if rest > 0:
            await worker.until_poked(rest)
        due = began + short - loop.time()
        if due > 0:
            await asyncio.sleep(due)


def reads_engine(worker: Worker) -> bool:
    """Whether a policy goes by what the engine says of its load."""
    return any(policy.reads_engines for pool in worker.pools for _, policy in pool.rows)
