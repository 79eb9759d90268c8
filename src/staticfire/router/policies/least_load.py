"""The worker with the least under way."""

from __future__ import annotations

from collections.abc import Collection

from staticfire.router.policies.base import Asking, C, Policy, PolicySettings
from staticfire.router.policies.ranks import Ranks

__all__ = ["LeastLoad"]


class LeastLoad(Policy[C]):
    """Who has the fewest requests under way, as far as is known; equals take turns."""

    name = "least_load"
    tracks = True
    reads_engines = True

    def __init__(self, settings: PolicySettings | None = None) -> None:
        super().__init__(settings)
        self._ranks: Ranks[C] = Ranks()
        self.why = "least"

    def enter(self, worker: C) -> None:
        """Rank it by its load."""
        super().enter(worker)
        self._ranks.put(worker, worker.load)

    def leave(self, worker: C) -> None:
        """Rank it no more."""
        super().leave(worker)
        self._ranks.remove(worker)

    def loaded(self, worker: C, by: int) -> None:  # noqa: ARG002 - the policy's shape
        """Rank it anew."""
        self._ranks.put(worker, worker.load)

    def choose(self, asked: Asking, tried: Collection[object], now: int) -> C | None:  # noqa: ARG002 - the policy's shape
        """The least loaded."""
        return self._ranks.first(tried)
