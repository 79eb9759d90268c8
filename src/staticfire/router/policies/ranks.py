"""Workers by a whole number, the lowest at hand."""

from __future__ import annotations

import heapq
from collections.abc import Collection
from typing import Generic

from staticfire.router.policies.base import C

__all__ = ["Ranks"]


class Ranks(Generic[C]):
    """Buckets of workers of one rank, and a heap of the ranks that have a bucket.

    Moving a worker and finding the lowest cost the same among ten workers and among a thousand.
    Of equals the one comes first that has waited longest in its rank, so that they take turns.
    """

    __slots__ = ("_buckets", "_heap", "_rank")

    def __init__(self) -> None:
        self._rank: dict[C, int] = {}
        self._buckets: dict[int, dict[C, None]] = {}
        self._heap: list[int] = []  # each rank with a bucket, once; a bucket may be empty

    def put(self, worker: C, rank: int) -> None:
        """Give a worker its rank, behind those who have it already."""
        before = self._rank.get(worker)
        if before is not None:
            del self._buckets[before][worker]
        self._rank[worker] = rank
        bucket = self._buckets.get(rank)
        if bucket is None:
            bucket = self._buckets[rank] = {}
            heapq.heappush(self._heap, rank)
        bucket[worker] = None

    def remove(self, worker: C) -> None:
        """Take a worker out."""
        del self._buckets[self._rank.pop(worker)][worker]

    def lowest(self) -> int | None:
        """The lowest rank that somebody has."""
        while self._heap:
            rank = self._heap[0]
            if self._buckets[rank]:
                return rank
            heapq.heappop(self._heap)
            del self._buckets[rank]
        return None

    def first(self, tried: Collection[object]) -> C | None:
        """The worker of the lowest rank that was not tried."""
        lowest = self.lowest()
        if lowest is None:
            return None
        for worker in self._buckets[lowest]:
            if worker not in tried:
                return worker
        for rank in sorted(self._buckets)[1:]:  # only when all of the lowest were tried
            for worker in self._buckets[rank]:
                if worker not in tried:
                    return worker
        return None
