"""Who serves what, now."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from staticfire.router.policies import Policy
from staticfire.router.worker import Worker

__all__ = ["Pool", "Registry"]

log = logging.getLogger("staticfire.router")


@dataclass(slots=True)
class Pool:
    """The workers that serve one model, in the order of their ids, with the model's own policy."""

    model: str
    policy: Policy
    workers: list[Worker] = field(default_factory=list)


class Registry:
    """Pools by model, kept from each worker's own record.

    A worker stands in the pools of what it listed itself, from its serving evidence until it
    leaves; never under a stand-in name. A pool outlives its workers, and so do its sessions.
    """

    def __init__(self, workers: tuple[Worker, ...], make_policy: Callable[[], Policy]) -> None:
        self.workers = workers
        self._make_policy = make_policy
        self._pools: dict[str, Pool] = {}
        self._order = {worker.id: place for place, worker in enumerate(workers)}
        self._healthy = 0

    def pool(self, model: str) -> Pool | None:
        """The pool of a model that somebody has served; `id@revision` finds `id`."""
        found = self._pools.get(model)
        if found is None and "@" in model:
            found = self._pools.get(model.rsplit("@", 1)[0])
        return found

    def sole_model(self) -> str | None:
        """The only model there is, for requests that name none."""
        known = self.known()
        return next(iter(known)) if len(known) == 1 else None

    def known(self) -> frozenset[str]:
        """Every model in some worker's last listing, serving or not."""
        return frozenset(model for worker in self.workers for model in worker.models)

    def knows(self, model: str) -> bool:
        """Whether some worker's last listing has the model."""
        known = self.known()
        return model in known or ("@" in model and model.rsplit("@", 1)[0] in known)

    def all_listed(self) -> bool:
        """Whether every configured worker has listed its models at least once."""
        return bool(self.workers) and all(w.has_listed or w.models for w in self.workers)

    def serving(self) -> tuple[Worker, ...]:
        """The workers in rotation."""
        return tuple(worker for worker in self.workers if worker.pooled)

    def served_models(self) -> tuple[str, ...]:
        """The models that somebody serves, sorted."""
        return tuple(sorted(name for name, pool in self._pools.items() if pool.workers))

    def update(self, worker: Worker) -> None:
        """File a worker by its record as it is now."""
        record = worker.watch.record
        if record.models or (record.evidence is not None and record.evidence.named is not None):
            worker.has_listed = True
        listed = set(record.models)
        for model in record.models:
            if model not in worker.discovered:
                log.info("Discovered model %s on %s", model, worker.id)
        worker.discovered = listed
        wanted = record.models if record.routable else ()
        if wanted != worker.pooled:
            self._refile(worker, wanted)
            self._say()

    def _refile(self, worker: Worker, wanted: tuple[str, ...]) -> None:
        for model in worker.pooled:
            if model not in wanted:
                self._pools[model].workers.remove(worker)
        for model in wanted:
            if model not in worker.pooled:
                pool = self._pools.get(model)
                if pool is None:
                    pool = self._pools[model] = Pool(model, self._make_policy())
                pool.workers.append(worker)
                pool.workers.sort(key=lambda one: self._order[one.id])
        joined, left = bool(wanted and not worker.pooled), bool(worker.pooled and not wanted)
        worker.pooled = tuple(wanted)
        if joined:
            log.info("%s (%s) joins the rotation", worker.id, worker.url)
        elif left:
            log.warning("%s (%s) leaves the rotation: %s", worker.id, worker.url, worker.reason)

    def _say(self) -> None:
        healthy = len({worker.host for worker in self.serving()})
        if healthy != self._healthy:
            self._healthy = healthy
            hosts = len({worker.host for worker in self.workers})
            log.info("%d out of %d unique hosts are healthy", healthy, hosts)
