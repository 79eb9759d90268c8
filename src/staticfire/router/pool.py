"""The workers that serve one model."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Collection

from staticfire.router.policies import Asking, Policy
from staticfire.router.standing import Standing
from staticfire.router.worker import Worker

__all__ = ["Pool"]

MakePolicy = Callable[[], Policy[Worker]]


class Pool:
    """Rows of workers of one model, kept when something changes; so nobody is looked through.

    Workers of a lower priority number come first; each priority has a policy of its own. A worker
    that stands aside is asked when no policy finds anybody. A pool outlives its workers, and so
    do its sessions.
    """

    def __init__(self, model: str, make_policy: MakePolicy) -> None:
        self.model = model
        self.why = ""
        """A word for the last choice,"""
        self.policy = make_policy().name
        """and whose it was."""
        self.names: dict[Worker, str] = {}
        """Who is in rotation, with its own name for the model."""
        self.rows: list[tuple[int, Policy[Worker]]] = []
        self._make_policy = make_policy
        self._aside: dict[Worker, None] = {}
        self._due: dict[Worker, None] = {}
        self._life: dict[str, int] = {}  # worker id -> the generation that was here last

    @property
    def workers(self) -> tuple[Worker, ...]:
        """Who is in rotation, whether it may be asked now or not."""
        return tuple(self.names)

    @property
    def open(self) -> bool:
        """Whether somebody is in rotation and does not drain."""
        return any(not worker.draining for worker in self.names)

    def policy_of(self, priority: int) -> Policy[Worker]:
        """The policy of a priority, made with its first worker."""
        for known, policy in self.rows:
            if known == priority:
                return policy
        made = self._make_policy()
        insort(self.rows, (priority, made), key=lambda row: row[0])
        return made

    def join(self, worker: Worker, name: str) -> None:
        """A worker comes into rotation. What an older life of it had cached is gone."""
        life = worker.watch.record.generation
        if self._life.get(worker.id, life) != life:
            self.policy_of(worker.priority).forget(worker)
        self._life[worker.id] = life
        self.names[worker] = name
        self._enter(worker, worker.standing)

    def part(self, worker: Worker) -> None:
        """A worker leaves the rotation; its policy remembers it for when it is back."""
        del self.names[worker]
        self._leave(worker, worker.standing)

    def forget(self, worker: Worker) -> None:
        """A worker is gone for good."""
        self._life.pop(worker.id, None)
        self.policy_of(worker.priority).forget(worker)

    def stands(self, worker: Worker, before: Standing, after: Standing) -> None:
        """A worker in rotation may be asked or not, from now on."""
        self._leave(worker, before)
        self._enter(worker, after)

    def choose(self, asked: Asking, tried: Collection[object], now: int) -> Worker | None:
        """A worker that may be asked now, None when there is none."""
        if self._due and not tried:
            # The one request that shows whether it is well again; a retry would have no next try.
            self.why = "try"
            return next(iter(self._due))
        for _, policy in self.rows:
            worker = policy.choose(asked, tried, now)
            if worker is not None:
                self.why = policy.why
                return worker
        self.why = "aside"
        able = [one for row in (self._due, self._aside) for one in row if one not in tried]
        return min(able, key=lambda one: one.in_flight) if able else None

    def _enter(self, worker: Worker, standing: Standing) -> None:
        if standing is Standing.able:
            self.policy_of(worker.priority).enter(worker)
        elif standing is Standing.aside:
            self._aside[worker] = None
        elif standing is Standing.due:
            self._due[worker] = None

    def _leave(self, worker: Worker, standing: Standing) -> None:
        if standing is Standing.able:
            self.policy_of(worker.priority).leave(worker)
        elif standing is Standing.aside:
            del self._aside[worker]
        elif standing is Standing.due:
            del self._due[worker]
