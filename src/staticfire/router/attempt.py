"""One attempt at one worker."""

from __future__ import annotations

from typing import Protocol

from staticfire.clock import current
from staticfire.router.breaker import Permit
from staticfire.router.ledger import Ledger
from staticfire.router.metrics import Metrics
from staticfire.router.outcome import Ended, Outcome, classify
from staticfire.router.worker import Worker

__all__ = ["Attempt", "Lease"]


class Lease(Protocol):
    """What dispatcher and relay need of an attempt, be it one or the pair of two legs."""

    @property
    def worker(self) -> Worker: ...
    @property
    def model(self) -> str: ...
    @property
    def outcome(self) -> Outcome | None: ...
    @property
    def rename(self) -> str | None: ...
    @property
    def why(self) -> str: ...

    def withdraw(self) -> None: ...
    def settle(self, ended: Ended) -> None: ...


class Attempt:
    """A lease on a worker: it counts in the worker's load until it is settled, exactly once."""

    __slots__ = (
        "_ledger", "_metrics", "_permit", "_statuses", "model", "outcome", "rename", "rest", "why",
        "worker",
    )  # fmt: skip

    def __init__(
        self,
        worker: Worker,
        permit: Permit,
        model: str,
        metrics: Metrics,
        statuses: frozenset[int],
        ledger: Ledger,
    ) -> None:
        self.worker = worker
        self.model = model
        self.why = ""
        """The policy's word for the choice."""
        self.rename: str | None = None
        """The worker's own name for the model, where the client used an alias."""
        self.rest = 0
        """How long its answer asks to be left alone, in nanoseconds; set before it is settled."""
        self.outcome: Outcome | None = None
        self._ledger = ledger
        self._permit = permit
        self._metrics = metrics
        self._statuses = statuses

    def settle(self, ended: Ended) -> None:
        """Give the lease back: tell breaker, metric, readiness. A second call changes nothing."""
        if self.outcome is not None:
            return
        outcome = self.outcome = classify(ended, self._statuses)
        worker = self.worker
        now = current().now()
        before = worker.breaker.state
        worker.breaker.record(self._permit, outcome, now)
        if worker.breaker.state is not before:
            self._metrics.moved(worker.id, before, worker.breaker.state, outcome.value)
        self._ledger.settled(worker, outcome, now, self.rest)
        self._metrics.attempt(worker.id, self.model, outcome)
        if outcome is Outcome.success:
            worker.watch.renew(now)

    def withdraw(self) -> None:
        """Give the lease back unused: the worker was never asked, so nothing is counted."""
        if self.outcome is None:
            self.outcome = Outcome.cancelled
            now = current().now()
            self.worker.breaker.record(self._permit, Outcome.cancelled, now)
            self._ledger.settled(self.worker, Outcome.cancelled, now, 0)
