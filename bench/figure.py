"""One measured number, with all its runs."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import Any

__all__ = ["Figure"]


@dataclass(frozen=True, slots=True)
class Figure:
    """`values` are in `unit`, one a run; `bar` is the most that the median may be, if any."""

    what: str
    unit: str
    values: tuple[float, ...]
    bar: float | None = None
    note: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def met(self) -> bool | None:
        """Whether the median keeps the bar; None without one."""
        return None if self.bar is None else self.median <= self.bar

    def json(self, name: str) -> dict[str, Any]:
        """For machines, under the name of the measurement it belongs to."""
        return {
            "measurement": name,
            "what": self.what,
            "unit": self.unit,
            "median": self.median,
            "min": min(self.values),
            "max": max(self.values),
            "runs": len(self.values),
            "bar": self.bar,
            "met": self.met,
            "note": self.note,
        }
