"""The matrix of scenarios by columns: a lane by itself first, then each router on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from staticfire.report.results import Outcome, Result, Run

__all__ = ["LEVELS", "Column", "Matrix", "Row", "columns_of", "matrix"]

LEVELS = ("must", "should", "observe")


@dataclass(frozen=True, slots=True, order=True)
class Column:
    """Where results come from; `router` is empty for the lane by itself, the baseline."""

    lane: str
    router: str = ""
    version: str = ""

    @property
    def baseline(self) -> bool:
        """Whether no router takes part."""
        return not self.router


@dataclass(frozen=True, slots=True, order=True)
class Row:
    """A scenario, or one example of an outline."""

    feature: str
    scenario: str
    example: str
    title: str = field(compare=False)
    level: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows, columns, and what came in each cell: mostly one result, several when it ran again."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    cells: Mapping[tuple[Row, Column], tuple[Result, ...]]

    def counts(self, column: Column, level: str) -> Counter[Outcome]:
        """How many scenarios of a level came to what; a cell of two outcomes counts in both."""
        found: Counter[Outcome] = Counter()
        for row in self.rows:
            if row.level == level:
                found.update({one.outcome for one in self.cells.get((row, column), ())})
        return found


DIRECT = "direct"
"""The router that is none: it is the lane's own column too."""


def _column(run: Run, result: Result) -> Column:
    if not result.routed or result.router == DIRECT:
        return Column(result.lane)
    version = next((one.version for one in run.routers if one.name == result.router), "")
    return Column(result.lane, result.router, version)


def columns_of(columns: Iterable[Column]) -> tuple[Column, ...]:
    """Without a router first; then by name, because an order of merit would be a rank."""
    return tuple(sorted(set(columns), key=lambda one: (one.router, one.lane, one.version)))


def matrix(runs: Sequence[Run]) -> Matrix:
    """The matrix of some runs.

    "Not applicable" gives way to a result of the same cell. A run against another router passes
    over all in which no router takes part, so a lane's own column of nothing else is left out, and
    with it the rows that stand in no other column.
    """
    cells: dict[tuple[Row, Column], list[Result]] = {}
    for run in runs:
        for result in run.results:
            row = Row(
                result.feature,
                result.scenario,
                result.example,
                result.title,
                result.level or "must",
            )
            cells.setdefault((row, _column(run, result)), []).append(result)
    kept = {place: _telling(found) for place, found in cells.items()}
    told = {column for (_, column), found in kept.items() if not column.baseline or _tells(found)}
    kept = {place: found for place, found in kept.items() if place[1] in told}
    return Matrix(
        columns=columns_of(told),
        rows=tuple(sorted({row for row, _ in kept})),
        cells=kept,
    )


def _telling(found: Sequence[Result]) -> tuple[Result, ...]:
    """The results of a cell without the empty ones, if there are others."""
    others = tuple(one for one in found if one.outcome is not Outcome.NOT_APPLICABLE)
    return others or tuple(found[:1])


def _tells(found: Sequence[Result]) -> bool:
    return any(one.outcome is not Outcome.NOT_APPLICABLE for one in found)
