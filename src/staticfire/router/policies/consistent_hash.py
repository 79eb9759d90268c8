"""A session's worker follows from its name."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection
from hashlib import blake2b
from math import ceil
from random import Random

from staticfire.router.policies.base import Asking, C, Policy, PolicySettings
from staticfire.router.policies.power_of_two import less_of_two

__all__ = ["ConsistentHash"]

POINTS = 100
"""Points of each worker on the ring."""


class ConsistentHash(Policy[C]):
    """The first worker after the session's point on a ring, unless it is loaded over the bound.

    The ring is made of workers' URLs, so that it is the same after a restart and in every router
    of a group, and who joins or leaves moves only its own share of the sessions. Nothing is
    remembered: a session whose worker rests is with the next one until it can be asked again. The
    bound is `load_factor` times the mean: over it the request goes on to the next worker. A
    request without a session goes to the less loaded of two.
    """

    name = "consistent_hash"
    tracks = True
    wants_session = True

    def __init__(self, settings: PolicySettings | None = None) -> None:
        super().__init__(settings)
        self._chance = Random(self.settings.seed)
        self._ring: list[float] = []
        self._owner: dict[float, C] = {}  # of each point
        self._members: dict[C, list[float]] = {}  # who is on the ring, at rest or not
        self._sorted = self._clean = True
        self._load = 0

    def enter(self, worker: C) -> None:
        """It gets its share of the ring at the next request."""
        super().enter(worker)
        self._load += worker.load
        if worker not in self._members:
            self._tidy()
            points = [point(f"{worker.url}#{number}") for number in range(POINTS)]
            mine = [at for at in points if self._owner.setdefault(at, worker) is worker]
            self._members[worker] = mine
            self._ring += mine
            self._sorted = False

    def leave(self, worker: C) -> None:
        """Its sessions go on to the next one; its points stay for when it is back."""
        super().leave(worker)
        self._load -= worker.load

    def forget(self, worker: C) -> None:
        """Its points go."""
        for at in self._members.pop(worker, ()):
            del self._owner[at]
        self._clean = False

    def loaded(self, worker: C, by: int) -> None:  # noqa: ARG002 - the policy's shape
        """The sum decides the bound."""
        self._load += by

    def choose(self, asked: Asking, tried: Collection[object], now: int) -> C | None:  # noqa: ARG002 - the policy's shape
        """The session's worker, or the next on the ring with room."""
        session = asked.session
        lineup = self.lineup
        if not session:
            self.why = "less"
            return less_of_two(lineup.workers, self._chance, tried) or lineup.pick(
                self._chance, tried
            )
        if not lineup.workers:
            return None
        self._tidy()
        if not self._sorted:
            self._ring.sort()  # nearly sorted already: a merge
            self._sorted = True
        bound = ceil(self.settings.load_factor * (self._load + 1) / len(lineup.workers))
        return self._walk(session, tried, bound)

    def _tidy(self) -> None:
        if not self._clean:
            self._ring = [at for at in self._ring if at in self._owner]
            self._clean = True

    def _walk(self, session: str, tried: Collection[object], bound: int) -> C | None:
        ring, owner, lineup = self._ring, self._owner, self.lineup
        start = bisect_left(ring, point(session))
        seen: set[C] = set()
        over: C | None = None
        for step in range(len(ring)):
            worker = owner[ring[(start + step) % len(ring)]]
            if worker in seen:
                continue
            if worker in lineup and worker not in tried:
                if worker.load < bound:
                    self.why = "over" if over is not None else "moved" if seen else "home"
                    return worker
                over = over or worker
            seen.add(worker)
            if len(seen) == len(self._members):
                break
        self.why = "home"
        return over  # everybody left is over the bound


def point(name: str) -> float:
    """Where a name stands on the ring, from 0 to 1: the same in every process."""
    return (int.from_bytes(blake2b(name.encode(), digest_size=8).digest()) >> 11) / (1 << 53)
