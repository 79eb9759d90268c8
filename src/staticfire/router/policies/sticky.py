"""A session stays with its worker."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection

from staticfire.router.policies.base import Asking, C, Policy, PolicySettings
from staticfire.router.policies.ranks import Ranks

__all__ = ["Sticky"]

_AT_MOST = 1_000_000  # sessions remembered, a guard against names without end


class Sticky(Policy[C]):
    """Each session keeps its worker; a new one goes to the worker with the fewest sessions.

    So late joiners get the new sessions until they have caught up, and nobody is moved for them;
    unless `rebalance_idle` is set: then a session that idled so long, and whose worker has two
    more than the one with the fewest, begins anew there. Else a session moves only when its worker
    cannot be asked: it has left, or its breaker rests it. It then belongs to the new worker, where
    its cache is being built. A request without a session goes to the worker with the least load.
    """

    name = "sticky"
    tracks = True
    wants_session = True

    def __init__(self, settings: PolicySettings | None = None) -> None:
        super().__init__(settings)
        # By id, so that a worker that was removed is not kept alive by the sessions it had.
        self._home: OrderedDict[str, tuple[str, int]] = OrderedDict()  # session -> worker, last use
        self._sessions: dict[str, int] = {}  # worker -> how many, of those at rest too
        self._able: dict[str, C] = {}
        self._by_sessions: Ranks[C] = Ranks()
        self._by_load: Ranks[C] = Ranks()

    def enter(self, worker: C) -> None:
        """Its sessions find it again; new ones come."""
        self._able[worker.id] = worker
        self._by_sessions.put(worker, self._sessions.get(worker.id, 0))
        self._by_load.put(worker, worker.load)

    def leave(self, worker: C) -> None:
        """Its sessions move when they ask."""
        del self._able[worker.id]
        self._by_sessions.remove(worker)
        self._by_load.remove(worker)

    def loaded(self, worker: C, by: int) -> None:  # noqa: ARG002 - the policy's shape
        """Rank it anew."""
        self._by_load.put(worker, worker.load)

    def choose(self, asked: Asking, tried: Collection[object], now: int) -> C | None:
        """The session's worker, or the one with the fewest sessions."""
        session = asked.session
        if not session:
            self.why = "least"
            return self._by_load.first(tried)
        self._forget(now)
        known = self._home.get(session)
        home, used = known or ("", 0)
        worker = self._able.get(home)
        if worker in tried:
            worker = None
        if worker is not None and not self._should_move(home, used, now):
            self.why = "home"
            self._keep(session, worker, now)
            return worker
        chosen = self._by_sessions.first(tried)
        if chosen is None:
            return None
        self.why = "new" if known is None else "idle" if worker is not None else "moved"
        if known is not None:
            self._count(home, -1)
        self._count(chosen.id, 1)
        self._keep(session, chosen, now)
        return chosen

    def sessions(self) -> dict[str, int]:
        """How many sessions each worker has, by id."""
        return dict(self._sessions)

    def _should_move(self, home: str, used: int, now: int) -> bool:
        idle = self.settings.rebalance_idle
        if idle is None or now - used < idle:
            return False
        fewest = self._by_sessions.lowest()
        return fewest is not None and self._sessions[home] > fewest + 1

    def _keep(self, session: str, worker: C, now: int) -> None:
        self._home[session] = (worker.id, now)
        self._home.move_to_end(session)

    def _count(self, name: str, by: int) -> None:
        count = self._sessions.get(name, 0) + by
        if count:
            self._sessions[name] = count
        else:
            self._sessions.pop(name, None)
        worker = self._able.get(name)
        if worker is not None:
            self._by_sessions.put(worker, count)

    def _forget(self, now: int) -> None:
        while self._home:
            session, (name, used) = next(iter(self._home.items()))
            if now - used < self.settings.session_idle and len(self._home) < _AT_MOST:
                return
            del self._home[session]
            self._count(name, -1)
