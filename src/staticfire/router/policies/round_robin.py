"""One worker after another."""

from __future__ import annotations

from collections.abc import Sequence

from staticfire.router.policies.base import C

__all__ = ["RoundRobin"]


class RoundRobin:
    """The candidate after the last chosen one, in the order of ids.

    By id, not by position: a worker that joins or rests shifts nobody's turn.
    """

    def __init__(self) -> None:
        self._last = ""

    def choose(self, candidates: Sequence[C], session: str | None, now: int) -> C:  # noqa: ARG002 - the policy's shape
        """The next candidate; the first one after the last."""
        last = self._last
        chosen = candidates[0]
        for candidate in candidates:
            if _rank(candidate.id) > _rank(last):
                chosen = candidate
                break
        self._last = chosen.id
        return chosen


def _rank(name: str) -> tuple[int, str]:
    """Ids sort by length first, so that w99 stands before w100."""
    return len(name), name
