"""What a policy is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

__all__ = ["Candidate", "Policy"]


class Candidate(Protocol):
    """What a policy may know of a worker."""

    @property
    def id(self) -> str: ...
    @property
    def in_flight(self) -> int: ...


C = TypeVar("C", bound=Candidate)


class Policy(Protocol):
    """Chooses inside one model's pool. Pure but for what it remembers of its own choices."""

    def choose(self, candidates: Sequence[C], session: str | None, now: int) -> C:
        """One of `candidates`, which are never empty: workers that serve and would admit.

        `now` is in nanoseconds.
        """
