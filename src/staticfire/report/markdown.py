"""The report as Markdown: counts, what went wrong, the matrix; for a pull request or a page of docs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from staticfire.report.joined import mixed
from staticfire.report.matrix import LEVELS, Column, Matrix, Row, matrix
from staticfire.report.results import Outcome, Result, Run

__all__ = ["SIGNS", "legend", "markdown", "name_of", "safe"]

SIGNS = {
    Outcome.PASS: "✓",
    Outcome.FAIL: "**✕**",
    Outcome.KNOWN: "K",
    Outcome.FIXED: "**F**",
    Outcome.UNSUPPORTED: "U",
    Outcome.NOT_APPLICABLE: "-",
    Outcome.ERROR: "**!**",
}
"""A sign for each outcome, as on the page."""

FOLDER = re.compile(r" --router-bin \S+")
"""Where routers lie on one machine; Markdown is what is published."""

AGAINST = (Outcome.FAIL, Outcome.FIXED, Outcome.ERROR)


def name_of(column: Column, *, lanes: int = 1) -> str:
    """A column's title; the lane is said where there are several, and where there is no router."""
    if column.baseline:
        return f"{column.lane}, no router"
    return f"{column.router} on {column.lane}" if lanes > 1 else column.router


def markdown(runs: Sequence[Run]) -> str:
    """The report; counts, never a percentage or a rank."""
    return "\n".join(_lines(runs, matrix(runs))) + "\n"


def _lines(runs: Sequence[Run], table: Matrix) -> Iterator[str]:
    lanes = len({column.lane for column in table.columns})
    names = {column: name_of(column, lanes=lanes) for column in table.columns}
    yield "# Static Fire report"
    yield ""
    for run in runs:
        routers = ", ".join(f"{one.name} {one.version}" for one in run.routers)
        told = f"suite {run.suite}, rules {run.rules}, lane {run.lane}, {routers}, seed {run.seed}"
        yield f"- {run.started}: {told}; {run.ran} of {run.selected} scenarios ran"
        yield from (f"  - {safe(note)}" for note in run.notes)
    yield from (f"- {note}" for note in mixed(runs))
    yield ""
    yield from _counts(table, names)
    yield from _against(table, names)
    yield from _rows(table, names)
    yield ""
    yield legend()


def legend() -> str:
    """What each sign means, on one line."""
    return ". ".join(f"{sign.strip('*')} {outcome.value}" for outcome, sign in SIGNS.items()) + "."


def _counts(table: Matrix, names: dict[Column, str]) -> Iterator[str]:
    levels = [level for level in LEVELS if any(row.level == level for row in table.rows)]
    yield f"| | version | {' | '.join(levels)} |"
    yield "|---" * (2 + len(levels)) + "|"
    for column in table.columns:
        cells = []
        for level in levels:
            counts = table.counts(column, level)
            cells.append(", ".join(f"{counts[o]} {o.value}" for o in Outcome if counts[o]))
        yield f"| {safe(names[column])} | {safe(column.version)} | {' | '.join(cells)} |"


def _against(table: Matrix, names: dict[Column, str]) -> Iterator[str]:
    """What a reader should look at first, with the line that shows it again."""
    found = [
        (row, column, one)
        for row in table.rows
        for column in table.columns
        for one in table.cells.get((row, column), ())
        if one.outcome in AGAINST
    ]
    if found:
        yield ""
        yield "## Against the promises"
    for row, column, one in found:
        yield ""
        yield f"- {one.outcome.value}, {safe(names[column])}: {_title(row)}"
        yield from (f"  - {line}" for line in _why(one))


def _why(one: Result) -> Iterator[str]:
    if one.failed_at:
        yield f"`{one.failed_at}`"
    if one.why:
        first, *more = one.why.splitlines()
        yield safe(first) + (" …" if more else "")
    if one.replay:
        yield f"`{FOLDER.sub('', one.replay)}`"


def _rows(table: Matrix, names: dict[Column, str]) -> Iterator[str]:
    head = f"| scenario | {' | '.join(safe(names[one]) for one in table.columns)} |"
    rule = "|---|" + ":-:|" * len(table.columns)
    for feature, rows in groupby(table.rows, key=lambda row: row.feature):
        yield from ("", f"## {feature.replace('_', ' ')}", "", head, rule)
        for row in rows:
            yield f"| {_title(row)} | {' | '.join(_cells(table, row))} |"


def _title(row: Row) -> str:
    example = f" [{row.example}]" if row.example else ""
    level = "" if row.level == "must" else f" ({row.level})"
    return safe(f"{row.title}{example}{level}")


def _cells(table: Matrix, row: Row) -> Iterator[str]:
    for column in table.columns:
        found = table.cells.get((row, column), ())
        signs = [SIGNS[one] for one in dict.fromkeys(result.outcome for result in found)]
        tickets = dict.fromkeys(one.ticket for one in found if one.outcome is Outcome.KNOWN)
        yield safe(" ".join([*signs, *tickets]))


def safe(text: str) -> str:
    """A text that cannot end a cell or begin an element."""
    return text.replace("|", "\\|").replace("<", "&lt;")
