"""The conformance page: what each router keeps, in a form that two equal runs write alike.

No times, no seed, no machine: what differs between two pages differs between two routers, or
between two versions of one. What a router is known to break is said with its ticket and a link.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby

from staticfire.report.claims import empty_claims
from staticfire.report.joined import mixed
from staticfire.report.markdown import SIGNS, legend, safe
from staticfire.report.matrix import LEVELS, Column, Matrix, Row, matrix
from staticfire.report.results import Outcome, Result, Run

__all__ = ["INCIDENTS", "conformance"]

INCIDENTS = (
    (
        "503 sheds a healthy worker",
        "a full engine answers 503; a router that counts it as a fault takes the worker away",
        ("backpressure-sole-engine-is-never-shed", "half-open-probe-answered-503-closes"),
    ),
    (
        "late workers starve",
        "workers that came up after the router get no session while the early ones drown",
        ("late-workers-get-the-new-sessions", "late-workers-of-each-model"),
    ),
)
"""What the suite was founded on: a name, what happened, the scenarios that show it."""

MADE = """\
Made by `make conformance`; each router in a process of its own, in front of mock engines, its
scenarios in real time with shortened waits. The bundled router lives in virtual time.
Counts are no ranking: a router that says that it has no such thing is not asked for it. Do you see
a verdict that is wrong? [Contest it](how-to/contest-a-verdict.md)."""


def conformance(runs: Sequence[Run]) -> str:
    """The page of some runs, routers by name."""
    return "\n".join(_lines(sorted(runs, key=_order), matrix(runs))) + "\n"


def _order(run: Run) -> tuple[str, ...]:
    return (*(one.name for one in run.routers), run.lane, run.shard)


def _lines(runs: Sequence[Run], table: Matrix) -> Iterator[str]:
    columns = [one for one in table.columns if not one.baseline]
    yield from ("# Conformance", "", MADE, "")
    suites = ", ".join(sorted({run.suite for run in runs}))
    rules = ", ".join(sorted({str(run.rules) for run in runs}))
    yield f"Suite {suites}, rules of reading {rules}."
    yield from (f"\n{note}" for note in mixed(runs))
    yield from ("", *_incidents(table, columns))
    yield from ("", *_counts(runs, table, columns))
    yield from _against(table, columns)
    yield from _known(table, columns)
    yield from ("", "## Every scenario", "", legend())
    yield from _rows(table, columns)


def _incidents(table: Matrix, columns: Sequence[Column]) -> Iterator[str]:
    yield "## The two incidents that this suite was founded on"
    for name, told, ids in INCIDENTS:
        rows = [row for row in table.rows if row.scenario in ids]
        yield from ("", f"**{name}**: {told}.", "", *_table(table, columns, rows))


def _counts(runs: Sequence[Run], table: Matrix, columns: Sequence[Column]) -> Iterator[str]:
    levels = [level for level in LEVELS if any(row.level == level for row in table.rows)]
    profiles = {
        one.name: run.profile or "all" for run in runs for one in run.routers if run.results
    }
    yield from ("## Counts", "")
    yield f"| router | version | profile | {' | '.join(levels)} |"
    yield "|---" * (3 + len(levels)) + "|"
    for column in columns:
        cells = []
        for level in levels:
            found = [_outcome(table, row, column) for row in table.rows if row.level == level]
            cells.append(
                ", ".join(f"{found.count(one)} {one.value}" for one in Outcome if one in found)
            )
        profile = profiles.get(column.router, "all")
        yield f"| {safe(column.router)} | {safe(column.version)} | {profile} | {' | '.join(cells)} |"
    for run in runs:
        yield from (f"\n{safe(note)}" for note in (*run.notes, *empty_claims(run)))


def _outcome(table: Matrix, row: Row, column: Column) -> Outcome | None:
    """What a cell came to; the pass of a row that is not certain is still a known fault."""
    found = table.cells.get((row, column), ())
    if not found:
        return None
    worst = max((one.outcome for one in found), key=WORST.index)
    return Outcome.KNOWN if worst is Outcome.PASS and any(one.ticket for one in found) else worst


WORST = (
    Outcome.NOT_APPLICABLE, Outcome.UNSUPPORTED, Outcome.PASS, Outcome.KNOWN, Outcome.FIXED,
    Outcome.FAIL, Outcome.ERROR,
)  # fmt: skip


def _results(table: Matrix, column: Column) -> Iterator[Result]:
    for row in table.rows:
        yield from table.cells.get((row, column), ())


def _against(table: Matrix, columns: Sequence[Column]) -> Iterator[str]:
    """What is not as it was written down: a page that is published has none."""
    against = (Outcome.FAIL, Outcome.FIXED, Outcome.ERROR)
    found = [
        f"- {column.router}: {one.outcome.value}: {_name(one)}"
        for column in columns
        for one in _results(table, column)
        if one.outcome in against
    ]
    if found:
        yield from ("", "## Against the expectations", "", *found)


def _known(table: Matrix, columns: Sequence[Column]) -> Iterator[str]:
    yield from ("", "## What is known", "")
    yield "Each line is a fault of that version, seen by the scenarios behind it."
    for column in columns:
        told: dict[tuple[str, str, str], set[str]] = defaultdict(set)
        for one in _results(table, column):
            if one.outcome is Outcome.KNOWN:
                reason = one.why.removeprefix(f"{one.ticket}: ")
                told[reason, one.ticket, one.link].add(one.scenario)
        if told:
            yield from ("", f"### {safe(column.router)} {safe(column.version)}", "")
        for (reason, bug, link), ids in sorted(told.items()):
            ticket = f"[{safe(bug)}]({link})" if link else safe(bug)
            yield f"- {safe(reason)} ({ticket}): {', '.join(f'`{one}`' for one in sorted(ids))}"


def _rows(table: Matrix, columns: Sequence[Column]) -> Iterator[str]:
    asked = [row for row in table.rows if any((row, one) in table.cells for one in columns)]
    for feature, rows in groupby(asked, key=lambda row: row.feature):
        shown = [row for row in rows if any(_telling(table, row, one) for one in columns)]
        if shown:
            yield from ("", f"### {feature.replace('_', ' ')}", "")
            yield from _table(table, columns, shown)


def _telling(table: Matrix, row: Row, column: Column) -> bool:
    return any(one.routed for one in table.cells.get((row, column), ()))


def _table(table: Matrix, columns: Sequence[Column], rows: Sequence[Row]) -> Iterator[str]:
    yield f"| scenario | {' | '.join(safe(one.router) for one in columns)} |"
    yield "|---|" + ":-:|" * len(columns)
    for row in rows:
        cells = []
        for column in columns:
            outcome = _outcome(table, row, column)
            cells.append("" if outcome is None else SIGNS[outcome])
        yield f"| {_title(row)} | {' | '.join(cells)} |"


def _title(row: Row) -> str:
    level = "" if row.level == "must" else f" ({row.level})"
    example = f" [{row.example}]" if row.example else ""
    return safe(f"`{row.scenario}`{example}{level}: {row.title}")


def _name(one: Result) -> str:
    return safe(f"`{one.scenario}`" + (f" [{one.example}]" if one.example else ""))
