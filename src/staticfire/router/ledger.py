"""What is under way at each worker, and whether it may be asked."""

from __future__ import annotations

import heapq
import logging
from collections.abc import Callable
from itertools import count

from staticfire.clock import NS
from staticfire.router import wedged
from staticfire.router.breaker import State
from staticfire.router.loads import EngineLoad
from staticfire.router.outcome import Outcome
from staticfire.router.standing import Standing, standing_of
from staticfire.router.worker import Worker

__all__ = ["Ledger"]

log = logging.getLogger("staticfire.router")

REST_AT_MOST = 60 * NS
"""The longest `Retry-After` for which a worker that sheds is spared while others can be asked."""

_ANSWERED = (Outcome.success, Outcome.client_error)


class Ledger:
    """Counts requests where they are given and given back, and tells pools whom they may ask.

    Everything is kept when it changes; nothing is looked through for a request. `wedge_after` and
    `interval` (between two tries of a wedged worker) in nanoseconds.
    """

    def __init__(self, wedge_after: int = 60 * NS, interval: int = 10 * NS) -> None:
        self._wedge_after = wedge_after
        self._interval = interval
        self.on_free: Callable[[Worker], None] | None = None
        """Told when a worker with a cap has a place again."""
        self._wakes: list[tuple[int, int, Worker]] = []
        self._order = count()
        self.on_moved: Callable[[str, State, State, str], None] | None = None
        """Told when a new life closes a breaker: worker id, before, after, why."""

    def drain(self, worker: Worker, now: int, *, draining: bool = True) -> None:
        """Send a worker nothing new, or again."""
        worker.draining = draining
        self._refresh(worker, now)

    def wake(self, now: int) -> None:
        """Look again at the workers for whom a time has come."""
        while self._wakes and self._wakes[0][0] <= now:
            worker = heapq.heappop(self._wakes)[2]
            worker.wakes_at = None
            self._refresh(worker, now)

    def took(self, worker: Worker, now: int) -> None:
        """A request was given to a worker, and its breaker gave the permit."""
        worker.in_flight += 1
        self._load(worker, 1)
        if not self._plain(worker):
            worker.asked_at = now
            self._refresh(worker, now)

    def settled(self, worker: Worker, outcome: Outcome, now: int, retry_after: int = 0) -> None:
        """It came to an end, and the breaker knows; `retry_after` in nanoseconds."""
        worker.in_flight -= 1
        self._load(worker, -1)
        if outcome is Outcome.backpressure:
            rest = min(retry_after, REST_AT_MOST)
            self._shedding(worker, wedged.shed(worker.shedding, now, rest), now)
        elif worker.shedding.since is not None and outcome in _ANSWERED:
            self._shedding(worker, wedged.Shedding(), now)
        elif not self._plain(worker):
            self._refresh(worker, now)
        if worker.cap is not None and self.on_free is not None:
            self.on_free(worker)

    def account(self, worker: Worker, said: EngineLoad | None, now: int) -> None:
        """What its engine says of its load; None when it says nothing."""
        worker.engine = said
        idle = None if said is None else said.idle
        foreign = 0 if said is None else max(0, said.running + said.waiting - worker.in_flight)
        self._load(worker, foreign - worker.foreign)
        worker.foreign = foreign
        self._shedding(worker, wedged.account(worker.shedding, now, idle), now)

    def reborn(self, worker: Worker, now: int) -> None:
        """A worker serves in a new life: rests and sheds of an older one count for nothing."""
        before = worker.breaker.state
        worker.breaker.renew()
        if self.on_moved is not None and before is not State.closed:
            self.on_moved(worker.id, before, State.closed, "new_life")
        self._shedding(worker, wedged.Shedding(), now)

    def _shedding(self, worker: Worker, known: wedged.Shedding, now: int) -> None:
        worker.shedding = known
        before, worker.sign = worker.sign, wedged.sign(known, self._wedge_after)
        if worker.sign is not before:
            if before is wedged.Sign.well:
                worker.asked_at = now
            log.warning("%s is %s: %s", worker.id, worker.sign.value, _WHY[worker.sign])
        self._refresh(worker, now)

    def _refresh(self, worker: Worker, now: int) -> None:
        penalty = wedged.penalty(worker.shedding, now)
        if penalty != worker.penalty:
            self._load(worker, penalty - worker.penalty)
            worker.penalty = penalty
        standing, again = standing_of(worker, now, self._interval)
        if again is not None and (worker.wakes_at is None or again < worker.wakes_at):
            worker.wakes_at = again
            heapq.heappush(self._wakes, (again, next(self._order), worker))
        before = worker.standing
        if standing is not before:
            for pool in worker.pools:
                pool.stands(worker, before, standing)
            worker.standing = standing
            self.track(worker)

    def track(self, worker: Worker) -> None:
        able = worker.standing is Standing.able
        policies = (pool.policy_of(worker.priority) for pool in worker.pools)
        worker.tracked = tuple(policy for policy in policies if able and policy.tracks)

    @staticmethod
    def _load(worker: Worker, by: int) -> None:
        if by:
            worker.load += by
            for policy in worker.tracked:
                policy.loaded(worker, by)

    @staticmethod
    def _plain(worker: Worker) -> bool:
        """Whether nothing but the load changes with a request: the usual case, kept cheap."""
        return (
            worker.standing is Standing.able
            and worker.cap is None
            and worker.breaker.state is State.closed
        )


_WHY = {
    wedged.Sign.well: "it answered a request",
    wedged.Sign.wedged: "it sheds everything, and its own metrics say that nothing runs",
    wedged.Sign.suspect: "it sheds everything, and has no metrics to ask",
}
