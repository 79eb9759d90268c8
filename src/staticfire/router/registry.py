"""Who serves what, now."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from staticfire.clock import current
from staticfire.router.ledger import Ledger
from staticfire.router.policies import Policy
from staticfire.router.pool import Pool
from staticfire.router.worker import Worker

__all__ = ["Registry"]

log = logging.getLogger("staticfire.router")


class Registry:
    """Pools by role and model, kept from each worker's own record and what its attempts came to.

    A worker stands in the pools of what it listed itself, from its serving evidence until it
    leaves; never under a stand-in name. An alias is a pool of its own.
    """

    def __init__(
        self,
        make_policy: Callable[[str], Policy[Worker]],
        *,
        ledger: Ledger | None = None,
        aliases: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        self.ledger = ledger or Ledger()
        self._make_policy = make_policy
        self._aliases = dict(aliases or {})
        self._workers: dict[str, Worker] = {}
        self._all: tuple[Worker, ...] = ()
        self._pools: dict[str, dict[str, Pool]] = {}
        self._hosts: Counter[str] = Counter()
        self._up: Counter[str] = Counter()
        self._healthy = 0

    # -- workers

    @property
    def workers(self) -> tuple[Worker, ...]:
        """Every worker, in the order of ids."""
        return self._all

    def worker(self, name: str) -> Worker | None:
        """The worker with an id."""
        return self._workers.get(name)

    def add(self, worker: Worker) -> None:
        """A worker is configured; it enters pools when it serves."""
        self._workers[worker.id] = worker
        self._changed()
        self._hosts[worker.host] += 1

    def remove(self, worker: Worker, now: int) -> None:
        """A worker is gone for good: no new request reaches it, those under way end."""
        pools = worker.pools
        del self._workers[worker.id]
        self.ledger.drain(worker, now)
        self._refile(worker, {})
        for pool in pools:
            pool.forget(worker)
        self._changed()
        _drop(self._hosts, worker.host)
        self._say()

    def _changed(self) -> None:
        self._all = tuple(self._workers.values())

    # -- models

    def pool(self, model: str, role: str = "worker") -> Pool | None:
        """The pool of a model that somebody has served; `id@revision` finds `id`."""
        pools = self._pools.get(role)
        if pools is None:
            return None
        found = pools.get(model)
        if found is None and "@" in model:
            found = pools.get(model.rsplit("@", 1)[0])
        return found

    def sole_model(self) -> str | None:
        """The only model there is, for requests that name none."""
        listed = {model for model in self.known() if model not in self._aliases}
        return next(iter(listed)) if len(listed) == 1 else None

    def known(self) -> frozenset[str]:
        """Every model in some worker's last listing, serving or not, and the aliases of those.

        Read from the records as they are: a listing counts before its worker is filed.
        """
        listed = {model for worker in self._all for model in worker.models}
        named = {alias for alias, of in self._aliases.items() if listed.intersection(of)}
        return frozenset(listed | named)

    def knows(self, model: str) -> bool:
        """Whether some worker's last listing has the model."""
        known = self.known()
        return model in known or ("@" in model and model.rsplit("@", 1)[0] in known)

    def all_listed(self) -> bool:
        """Whether every configured worker has listed its models at least once."""
        return bool(self._all) and all(w.has_listed for w in self._all)

    def serving(self) -> tuple[Worker, ...]:
        """The workers in rotation."""
        return tuple(worker for worker in self._all if worker.pooled)

    def served_models(self) -> tuple[str, ...]:
        """The models that somebody serves in every role there is, sorted."""
        found = [
            {name for name, pool in self._pools.get(role, {}).items() if pool.open}
            for role in {worker.role for worker in self._all}
        ]
        return tuple(sorted(set.intersection(*found))) if found else ()

    def missing(self) -> tuple[str, ...]:
        """The roles in which nobody serves, sorted; there is one role where there are no legs."""
        roles = {worker.role for worker in self._all}
        return tuple(sorted(roles - {worker.role for worker in self._all if worker.pooled}))

    def update(self, worker: Worker) -> None:
        """File a worker by its record as it is now."""
        if worker.id not in self._workers:
            return
        record = worker.watch.record
        if record.models or (record.evidence is not None and record.evidence.named is not None):
            worker.has_listed = True
        if worker.discovered.symmetric_difference(record.models):
            for model in record.models:
                if model not in worker.discovered:
                    log.info("Discovered model %s on %s", model, worker.id)
            worker.discovered = set(record.models)
        wanted = self._names(record.models) if record.routable else {}
        if tuple(wanted) != worker.pooled:
            self._refile(worker, wanted)
            self._say()

    def _names(self, models: Iterable[str]) -> dict[str, str]:
        """Under which names a worker is asked, with its own name for each."""
        names = {model: model for model in models}
        for alias, targets in self._aliases.items():
            own = next((target for target in targets if target in names), None)
            if own is not None and alias not in names:
                names[alias] = own
        return names

    def _refile(self, worker: Worker, wanted: dict[str, str]) -> None:
        life = worker.watch.record.generation
        if wanted and not worker.pooled:
            if worker.life not in (None, life):
                self.ledger.reborn(worker, current().now())
            worker.life = life
        for pool in worker.pools:
            if pool.model not in wanted:
                pool.part(worker)
        pools = self._pools.setdefault(worker.role, {})
        for model, name in wanted.items():
            if model not in worker.pooled:
                if model not in pools:
                    pools[model] = Pool(model, partial(self._make_policy, worker.role))
                pools[model].join(worker, name)
        joined, left = bool(wanted and not worker.pooled), bool(worker.pooled and not wanted)
        worker.pooled = tuple(wanted)
        worker.pools = tuple(pools[model] for model in worker.pooled)
        self.ledger.track(worker)
        if joined:
            self._up[worker.host] += 1
            log.info("%s joins the rotation", worker.id)
        elif left:
            _drop(self._up, worker.host)
            why = worker.reason if worker.id in self._workers else "it is removed"
            log.warning("%s leaves the rotation: %s", worker.id, why)

    def _say(self) -> None:
        healthy = len(self._up)
        if healthy != self._healthy:
            self._healthy = healthy
            log.info("%d out of %d unique hosts are healthy", healthy, len(self._hosts))


def _drop(counts: Counter[str], name: str) -> None:
    counts[name] -= 1
    if not counts[name]:
        del counts[name]
