"""A session stays with its worker."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from staticfire.router.policies.base import C

__all__ = ["Sticky"]

_AT_MOST = 1_000_000  # sessions remembered, a guard against names without end


class Sticky:
    """Each session keeps its worker; a new one goes to the worker with the fewest sessions.

    So late joiners get the new sessions until they have caught up, and nobody is moved for them.
    A session moves only when its worker cannot be asked: it has left or its breaker rests it.
    It then belongs to the new worker, where its cache is being built. A request without a session
    goes to the worker with the fewest requests in flight.
    """

    def __init__(self, idle: int) -> None:
        self._idle = idle
        self._home: OrderedDict[str, tuple[str, int]] = OrderedDict()  # session -> worker, last use
        self._sessions: dict[str, int] = {}  # worker -> how many
        self._turn = 0

    def choose(self, candidates: Sequence[C], session: str | None, now: int) -> C:
        """The session's worker, or the one with the fewest sessions."""
        if not session:
            self._turn += 1
            start = self._turn % len(candidates)
            order = (*candidates[start:], *candidates[:start])
            return min(order, key=lambda worker: worker.in_flight)
        self._forget(now)
        known = self._home.get(session)
        if known is not None:
            for candidate in candidates:
                if candidate.id == known[0]:
                    self._keep(session, candidate.id, now)
                    return candidate
            self._sessions[known[0]] -= 1
        counts = self._sessions
        chosen = min(candidates, key=lambda worker: counts.get(worker.id, 0))
        counts[chosen.id] = counts.get(chosen.id, 0) + 1
        self._keep(session, chosen.id, now)
        return chosen

    def sessions(self) -> dict[str, int]:
        """How many sessions each worker has, by id."""
        return {worker: count for worker, count in self._sessions.items() if count}

    def _keep(self, session: str, worker: str, now: int) -> None:
        self._home[session] = (worker, now)
        self._home.move_to_end(session)

    def _forget(self, now: int) -> None:
        while self._home:
            session, (worker, used) = next(iter(self._home.items()))
            if now - used < self._idle and len(self._home) < _AT_MOST:
                return
            del self._home[session]
            self._sessions[worker] -= 1
