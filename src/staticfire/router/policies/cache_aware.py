"""A prompt goes where its beginning is cached."""

from __future__ import annotations

from collections.abc import Collection
from itertools import count, islice

from staticfire.router.policies.base import Asking, C, Policy, PolicySettings
from staticfire.router.policies.prefixes import Prefixes, path_of
from staticfire.router.policies.ranks import Ranks

__all__ = ["CacheAware"]

_COMPARED = 32  # of a beginning that everybody has, so many workers are compared


class CacheAware(Policy[C]):
    """The worker that has seen the longest beginning of the prompt, unless it is overloaded.

    When less than `cache_threshold` of the prompt is known, the least loaded worker gets it, however
    much or little it has cached. So it does when the worker with the cache has `balance_abs` more
    under way than the least loaded one and `balance_rel` times as much. Only workers that may be
    asked now are compared. Of several with the same beginning the least loaded gets it.
    """

    name = "cache_aware"
    tracks = True
    wants_prompt = True
    reads_engines = True

    def __init__(self, settings: PolicySettings | None = None) -> None:
        super().__init__(settings)
        self._ranks: Ranks[C] = Ranks()
        self.prefixes = Prefixes(self.settings.max_tree_size)
        # A worker's number in the tree; it gets a new one when its cache is gone.
        self._numbers = count()
        self._number: dict[C, int] = {}
        self._numbered: dict[int, C] = {}

    def enter(self, worker: C) -> None:
        """Rank it by its load."""
        super().enter(worker)
        self._ranks.put(worker, worker.load)
        if worker not in self._number:
            number = self._number[worker] = next(self._numbers)
            self._numbered[number] = worker

    def leave(self, worker: C) -> None:
        """It keeps its cache while it rests."""
        super().leave(worker)
        self._ranks.remove(worker)

    def forget(self, worker: C) -> None:
        """Its cache is gone."""
        number = self._number.pop(worker, None)
        if number is not None:
            del self._numbered[number]

    def loaded(self, worker: C, by: int) -> None:  # noqa: ARG002 - the policy's shape
        """Rank it anew."""
        self._ranks.put(worker, worker.load)

    def choose(self, asked: Asking, tried: Collection[object], now: int) -> C | None:  # noqa: ARG002 - the policy's shape
        """The one with the cache, or the least loaded."""
        least = self._ranks.first(tried)
        if least is None:
            return None
        text = asked.prompt
        path = path_of(text)
        enough = len(text) * self.settings.cache_threshold
        known = self._with_cache(path, tried, enough, least)
        if known is None:
            self.why, chosen = "least", least
        elif self._overloaded(known.load, least.load):
            self.why, chosen = "overloaded", least
        else:
            self.why, chosen = "cache", known
        self.prefixes.add(path, self._number[chosen])
        return chosen

    def _with_cache(
        self, path: list[tuple[int, int]], tried: Collection[object], enough: float, least: C
    ) -> C | None:
        for end, numbers in self.prefixes.longest(path):
            if end < enough:
                return None
            if self._number[least] in numbers:
                return least
            able = [
                worker
                for number in islice(reversed(numbers), _COMPARED)
                if (worker := self._numbered.get(number)) is not None
                and worker not in tried
                and worker in self.lineup
            ]
            if able:
                return min(able, key=_load)
        return None

    def _overloaded(self, load: int, least: int) -> bool:
        settings = self.settings
        return load - least > settings.balance_abs and load > settings.balance_rel * least


def _load(worker: C) -> int:
    return worker.load
