"""A metrics page as Python's prometheus client writes it: names, label order, floats."""

from __future__ import annotations

import math
from collections.abc import Iterable

from staticfire.engine.latency import Histogram

__all__ = ["Page", "escaped", "number"]


def number(value: float) -> str:
    """A float as that client writes it: from a million on with an exponent, as Go does."""
    if math.isinf(value):
        return "+Inf"
    text = repr(float(value))
    dot = text.find(".")
    if value > 0 and dot > 6:
        mantissa = f"{text[0]}.{text[1:dot]}{text[dot + 1 :]}".rstrip("0.")
        return f"{mantissa}e+0{dot - 1}"
    return text


def escaped(text: str) -> str:
    """A label's value."""
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


class Page:
    """Families of samples, in the order in which they are added.

    `born` is when counters began, in Unix seconds: each has a `_created` gauge.
    """

    def __init__(self, born: float) -> None:
        self._born = number(born)
        self._lines: list[str] = []

    def gauge(self, name: str, text: str, *samples: tuple[str, float]) -> None:
        """A value that goes up and down."""
        self._family(name, "gauge", text, samples)

    def counter(self, name: str, text: str, *samples: tuple[str, float]) -> None:
        """A count, whose name ends in `_total`."""
        self._family(name, "counter", text, samples)
        self._created(name.removesuffix("_total"), text, [labels for labels, _ in samples])

    def histogram(self, name: str, text: str, labels: tuple[str, str], values: Histogram) -> None:
        """Counts by bucket; `labels` are those before and after `le`, which stands in their midst."""
        before, after = labels
        joined = f"{before},{after}"
        rows = values.rows()
        self._head(name, "histogram", text)
        for bound, count in rows:
            row = f'{name}_bucket{{{before},le="{number(bound)}",{after}}}'
            self._lines.append(f"{row} {number(count)}")
        self._lines.append(f"{name}_count{{{joined}}} {number(rows[-1][1])}")
        self._lines.append(f"{name}_sum{{{joined}}} {number(values.sum)}")
        self._created(name, text, [joined])

    def bytes(self) -> bytes:
        """The page."""
        return ("\n".join(self._lines) + "\n").encode()

    def _family(
        self, name: str, kind: str, text: str, samples: Iterable[tuple[str, float]]
    ) -> None:
        self._head(name, kind, text)
        self._lines += [f"{name}{{{labels}}} {number(value)}" for labels, value in samples]

    def _created(self, base: str, text: str, labels: Iterable[str]) -> None:
        self._head(f"{base}_created", "gauge", text)
        self._lines += [f"{base}_created{{{own}}} {self._born}" for own in labels]

    def _head(self, name: str, kind: str, text: str) -> None:
        self._lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
