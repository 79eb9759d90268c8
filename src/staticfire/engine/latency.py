"""How long the requests of an engine took, as histograms in vLLM's buckets."""

from __future__ import annotations

from bisect import bisect_left

from staticfire.clock import NS

__all__ = ["Histogram", "Latency"]

FIRST = (
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0,
    20.0, 40.0, 80.0, 160.0, 640.0, 2560.0,
)  # fmt: skip
BETWEEN = (
    0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0,
    40.0, 80.0,
)  # fmt: skip
WHOLE = (
    0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 120.0, 240.0,
    480.0, 960.0, 1920.0, 7680.0,
)  # fmt: skip
TIMES = (1.0, 2.0, 3.0, 4.0, 5.0, 10.0, 20.0)


class Histogram:
    """Counts of values by bucket, and their sum."""

    __slots__ = ("bounds", "counts", "sum")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def observe(self, value: float, times: int = 1) -> None:
        """Count a value."""
        self.counts[bisect_left(self.bounds, value)] += times
        self.sum += value * times

    def rows(self) -> list[tuple[float, int]]:
        """How many values are up to each bound; the last bound is infinite."""
        rows, total = [], 0
        for bound, count in zip((*self.bounds, float("inf")), self.counts, strict=True):
            total += count
            rows.append((bound, total))
        return rows


class Latency:
    """Times of one engine's requests in seconds, and how often each was preempted."""

    __slots__ = ("between", "first", "preempted", "whole")

    def __init__(self) -> None:
        self.first = Histogram(FIRST)
        self.between = Histogram(BETWEEN)
        self.whole = Histogram(WHOLE)
        self.preempted = Histogram(TIMES)

    def took(self, came: int, first: int, ended: int, tokens: int, preempted: int) -> None:
        """Count a request that ended well; times in ns.

        The time between its tokens is counted as their mean, once for each token: a clock read for
        every token would cost more than the token.
        """
        self.first.observe((first - came) / NS)
        self.whole.observe((ended - came) / NS)
        if tokens > 1:
            self.between.observe((ended - first) / NS / (tokens - 1), tokens - 1)
        self.preempted.observe(preempted)
