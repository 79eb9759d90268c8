"""One worker after another."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection

from staticfire.router.policies.base import Asking, C, Policy, PolicySettings

__all__ = ["RoundRobin"]


class RoundRobin(Policy[C]):
    """The worker after the last chosen one, in the order of ids.

    By its place, not by its index: a worker that joins or rests shifts nobody's turn. Neither does
    a retry: else a worker that sheds would be first for every request of two workers. Retries go
    round by themselves, so that not one worker gets all of them.
    """

    name = "round_robin"

    def __init__(self, settings: PolicySettings | None = None) -> None:
        super().__init__(settings)
        self._last = [-1, -1]  # the place chosen last: at first, and for a retry

    def choose(self, asked: Asking, tried: Collection[object], now: int) -> C | None:  # noqa: ARG002 - the policy's shape
        """The next in turn."""
        lineup, last, turn = self.lineup, self._last, bool(tried)
        chosen = lineup.after(bisect_right(lineup.places, last[turn]), tried)
        if chosen is not None:
            last[turn] = chosen.place
        self.why = "turn"
        return chosen
