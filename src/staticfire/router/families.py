"""Metric families as Prometheus text, made piece by piece.

A line's name and labels are spelled once, when its child is made; a scrape then costs one number a
line. The client library walks all samples of a family in one go, which blocked the loop for 884 ms
with 1,000 workers.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator

__all__ = ["Counter", "Counters", "Family", "Histogram", "Histograms", "Sampled"]

PIECE = 256
"""Lines made between two chances for other work."""


class Counter:
    """One number that only grows."""

    __slots__ = ("_line", "value")

    def __init__(self, line: str) -> None:
        self._line = line
        self.value = 0

    def inc(self) -> None:
        """One more."""
        self.value += 1

    def text(self) -> str:
        """Its line."""
        return f"{self._line} {self.value}.0\n"


class Histogram:
    """How many values fell into each bucket, and their sum."""

    __slots__ = ("_bounds", "_counts", "_head", "_lines", "_sum", "_tail")

    def __init__(self, name: str, labels: str, bounds: tuple[float, ...]) -> None:
        comma = "," if labels else ""
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0
        ends = (*(f"{bound:g}" for bound in bounds), "+Inf")
        self._lines = [f'{name}_bucket{{{labels}{comma}le="{end}"}}' for end in ends]
        self._head = f"{name}_sum{{{labels}}}" if labels else f"{name}_sum"
        self._tail = f"{name}_count{{{labels}}}" if labels else f"{name}_count"

    @property
    def count(self) -> int:
        """How many values there were."""
        return sum(self._counts)

    def observe(self, value: float) -> None:
        """One more value, in seconds."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def text(self) -> str:
        """Its lines."""
        below, out = 0, []
        for line, count in zip(self._lines, self._counts, strict=True):
            below += count
            out.append(f"{line} {below}.0\n")
        out.append(f"{self._head} {self._sum!r}\n{self._tail} {below}.0\n")
        return "".join(out)


class Family:
    """What one metric is called, and what it means."""

    kind = "gauge"

    def __init__(self, name: str, help_: str, labels: tuple[str, ...] = ()) -> None:
        self.name = name
        self.labels = labels
        self._head = f"# HELP {name} {help_}\n# TYPE {name} {self.kind}\n"

    def pieces(self) -> Iterator[str]:
        """Its text, at most PIECE children at a time."""
        texts = self._texts()
        piece = [self._head]
        for number, text in enumerate(texts, 1):
            piece.append(text)
            if number % PIECE == 0:
                yield "".join(piece)
                piece = []
        if piece:
            yield "".join(piece)

    def _texts(self) -> Iterable[str]:
        raise NotImplementedError

    def _spelled(self, values: tuple[str, ...]) -> str:
        return ",".join(
            f'{label}="{_escaped(value)}"' for label, value in zip(self.labels, values, strict=True)
        )

    def _line(self, values: tuple[str, ...]) -> str:
        return f"{self.name}{{{self._spelled(values)}}}" if values else self.name


class Counters(Family):
    """Counters by labels."""

    kind = "counter"

    def __init__(self, name: str, help_: str, labels: tuple[str, ...] = ()) -> None:
        super().__init__(name, help_, labels)
        self.children: dict[tuple[str, ...], Counter] = {}

    def child(self, *values: str) -> Counter:
        """The counter of these labels; keep it where it is hot."""
        found = self.children.get(values)
        if found is None:
            found = self.children[values] = Counter(self._line(values))
        return found

    def forget(self, label: str, value: str) -> None:
        """Drop every counter with this label."""
        place = self.labels.index(label)
        for values in [values for values in self.children if values[place] == value]:
            del self.children[values]

    def _texts(self) -> Iterable[str]:
        return (child.text() for child in list(self.children.values()))


class Histograms(Family):
    """Histograms by labels."""

    kind = "histogram"

    def __init__(
        self, name: str, help_: str, bounds: tuple[float, ...], labels: tuple[str, ...] = ()
    ) -> None:
        super().__init__(name, help_, labels)
        self._bounds = bounds
        self.children: dict[tuple[str, ...], Histogram] = {}

    def child(self, *values: str) -> Histogram:
        """The histogram of these labels; keep it where it is hot."""
        found = self.children.get(values)
        if found is None:
            made = Histogram(self.name, self._spelled(values), self._bounds)
            found = self.children[values] = made
        return found

    def _texts(self) -> Iterable[str]:
        return (child.text() for child in list(self.children.values()))


class Sampled(Family):
    """Gauges that are read at the scrape: nothing is kept, so what is gone vanishes."""

    def __init__(
        self,
        name: str,
        help_: str,
        sample: Callable[[], Iterable[tuple[tuple[str, ...], float]]],
        labels: tuple[str, ...] = (),
    ) -> None:
        super().__init__(name, help_, labels)
        self._sample = sample

    def _texts(self) -> Iterable[str]:
        return (f"{self._line(values)} {float(value)}\n" for values, value in self._sample())


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
