"""Which worker a request is given to."""

from __future__ import annotations

from collections.abc import Collection

from staticfire.clock import NS
from staticfire.errors import did_you_mean
from staticfire.router.asked import Asked
from staticfire.router.attempt import Attempt
from staticfire.router.errors import Failure
from staticfire.router.metrics import Metrics
from staticfire.router.pool import Pool
from staticfire.router.registry import Registry
from staticfire.router.settings import Settings
from staticfire.router.standing import Standing

__all__ = ["Chooser"]

_NOBODY_ELSE = Failure(503, "no_worker_ready", "no other worker can be asked now", retry_after=1)


class Chooser:
    """Finds the pool of the model, asks its policy, takes a permit, counts the load."""

    def __init__(self, registry: Registry, metrics: Metrics, settings: Settings) -> None:
        self._registry = registry
        self._metrics = metrics
        self._statuses = settings.backpressure_statuses

    def choose(
        self, asked: Asked, tried: Collection[object], now: int, role: str = "worker"
    ) -> Attempt | Failure:
        """An attempt at a worker who is not in `tried`, or why there is none."""
        registry = self._registry
        model = asked.model
        if model is None:
            model = registry.sole_model()
            if model is None:
                if not registry.all_listed():
                    return _starting("no model is named and not every worker has listed its own")
                return Failure(400, "model_required", "the request names no model", "model")
        pool = registry.pool(model, role)
        if pool is None or not pool.names:
            return self._nobody(model)
        ledger = registry.ledger
        ledger.wake(now)
        worker = pool.choose(asked, tried, now)
        if worker is None:
            return _NOBODY_ELSE if tried else _resting(pool, now)
        before = worker.breaker.state
        permit = worker.breaker.admit(now)
        if worker.breaker.state is not before:
            self._metrics.moved(worker.id, before, worker.breaker.state, "cool_down")
        assert permit is not None, "whoever may be asked would have admitted"
        ledger.took(worker, now)
        self._metrics.decision(pool.model, pool.policy, pool.why)
        own = pool.names[worker]
        attempt = Attempt(worker, permit, pool.model, self._metrics, self._statuses, ledger)
        attempt.why = pool.why
        attempt.rename = own if own != pool.model and own != model else None
        return attempt

    def others(
        self, asked: Asked, tried: Collection[object], now: int, role: str = "worker"
    ) -> bool:
        """Whether somebody could be asked who is not in `tried`. Changes nothing."""
        model = asked.model or self._registry.sole_model()
        pool = None if model is None else self._registry.pool(model, role)
        if pool is None:
            return False
        self._registry.ledger.wake(now)
        return any(
            worker.standing is not Standing.out and worker not in tried for worker in pool.names
        )

    def _nobody(self, model: str) -> Failure:
        registry = self._registry
        if registry.knows(model):
            return Failure(
                503, "no_worker_ready", f"no worker serves {model!r} now", "model", retry_after=1
            )
        if not registry.all_listed():
            return _starting(f"not every worker has listed its models yet; {model!r} may come")
        advice = did_you_mean(model, registry.known()) if registry.known() else "there are none"
        return Failure(
            404, "model_not_found", f"no worker has the model {model!r}; {advice}", "model"
        )


def _starting(message: str) -> Failure:
    return Failure(503, "workers_starting", message, "model", retry_after=1)


def _resting(pool: Pool, now: int) -> Failure:
    """Why nobody of a pool can be asked: who is only full comes first, for that passes soonest."""
    model = pool.model
    if all(worker.draining for worker in pool.names):
        message = f"every worker of {model!r} drains"
        return Failure(503, "workers_draining", message, "model", retry_after=1)
    if any(worker.breaker.would_admit(now) and not worker.draining for worker in pool.names):
        message = f"every worker of {model!r} has as many requests as it may"
        return Failure(429, "workers_full", message, "model", retry_after=1)
    opens = [at for worker in pool.names if (at := worker.breaker.reopens_at()) is not None]
    wait = -(-(min(opens) - now) // NS) if opens else 1
    message = f"every worker of {model!r} rests after errors"
    return Failure(503, "workers_resting", message, "model", retry_after=max(1, wait))
