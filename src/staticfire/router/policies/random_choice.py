"""Any worker."""

from __future__ import annotations

from collections.abc import Collection
from random import Random

from staticfire.router.policies.base import Asking, C, Policy, PolicySettings

__all__ = ["RandomChoice"]


class RandomChoice(Policy[C]):
    """One by chance, each as likely as the next."""

    name = "random"

    def __init__(self, settings: PolicySettings | None = None) -> None:
        super().__init__(settings)
        self._chance = Random(self.settings.seed)
        self.why = "chance"

    def choose(self, asked: Asking, tried: Collection[object], now: int) -> C | None:  # noqa: ARG002 - the policy's shape
        """One by chance."""
        return self.lineup.pick(self._chance, tried)
