"""The less loaded of two."""

from __future__ import annotations

from collections.abc import Collection
from random import Random

from staticfire.router.policies.base import Asking, C, Policy, PolicySettings

__all__ = ["PowerOfTwo"]


class PowerOfTwo(Policy[C]):
    """Two by chance, and of them the one with less under way; the first of equals."""

    name = "power_of_two"
    reads_engines = True

    def __init__(self, settings: PolicySettings | None = None) -> None:
        super().__init__(settings)
        self._chance = Random(self.settings.seed)
        self.why = "less"

    def choose(self, asked: Asking, tried: Collection[object], now: int) -> C | None:  # noqa: ARG002 - the policy's shape
        """The less loaded of two."""
        return less_of_two(self.lineup.workers, self._chance, tried) or self.lineup.pick(
            self._chance, tried
        )


def less_of_two(workers: list[C], chance: Random, tried: Collection[object]) -> C | None:
    """The less loaded of two different ones, None when one of them was tried."""
    count = len(workers)
    if count < 2:
        return None
    one = int(chance.random() * count)
    other = (one + 1 + int(chance.random() * (count - 1))) % count
    first, second = workers[one], workers[other]
    if first in tried:
        first = second
    elif second in tried:
        second = first
    if first in tried:
        return None
    return first if first.load <= second.load else second
