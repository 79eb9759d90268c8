"""Packs a matrix and its timelines tightly, as the JSON that the page draws.

Texts stand once, in one table, and are named by their place in it; times are whole milliseconds;
what comes in great numbers is a flat list of integers. `page/data.js` reads it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from staticfire.report.kinds import Kind
from staticfire.report.matrix import LEVELS, Matrix, Row, matrix
from staticfire.report.results import Outcome, Result, Run, Timeline
from staticfire.report.thinning import LINES, LOGS, bars, limit_for, lines

__all__ = ["pack"]

KINDS = list(Kind)
OUTCOMES = list(Outcome)


class _Limits(NamedTuple):
    """How much of each timeline the page has room for."""

    bars: int
    lines: int


class _Texts:
    """Each text once; -1 stands for none."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def place(self, text: str | None) -> int:
        return -1 if not text else self._places.setdefault(text, len(self._places))

    @property
    def table(self) -> list[str]:
        return list(self._places)


def pack(runs: Sequence[Run], notes: Sequence[str] = ()) -> dict[str, Any]:
    """The page's data."""
    table, texts = matrix(runs), _Texts()
    found = [one for cell in table.cells.values() for one in cell]
    pictures = [one.timeline for one in found if one.timeline is not None]
    limits = _Limits(
        bars=limit_for(len(one.requests) for one in pictures),
        lines=limit_for((len(one.router) for one in pictures), LOGS, LINES),
    )
    return {
        "outcomes": [one.value for one in OUTCOMES],
        "kinds": [one.value for one in KINDS],
        "levels": list(LEVELS),
        "notes": list(notes),
        "runs": [_run(one) for one in runs],
        "columns": [[one.lane, one.router, one.version] for one in table.columns],
        "rows": [[one.feature, one.scenario, one.example, one.title] for one in table.rows],
        "level": [LEVELS.index(one.level) if one.level in LEVELS else 0 for one in table.rows],
        "cells": [_cells(table, row, texts, limits) for row in table.rows],
        "texts": texts.table,
    }


def _run(run: Run) -> dict[str, Any]:
    return {
        "suite": run.suite,
        "rules": run.rules,
        "started": run.started,
        "lane": run.lane,
        "seed": run.seed,
        "machine": run.machine,
        "profile": run.profile,
        "shard": run.shard,
        "selected": run.selected,
        "ran": run.ran,
        "notes": list(run.notes),
        "routers": [[one.name, one.version, one.command, one.time_scale] for one in run.routers],
    }


def _cells(table: Matrix, row: Row, texts: _Texts, limits: _Limits) -> list[Any]:
    """A row's cells: the number of the column, then its results."""
    cells = []
    for number, column in enumerate(table.columns):
        found = table.cells.get((row, column), ())
        if found:
            cells.append([number, [_result(one, texts, limits) for one in found]])
    return cells


def _result(one: Result, texts: _Texts, limits: _Limits) -> list[Any]:
    return [
        OUTCOMES.index(one.outcome),
        texts.place(one.why),
        texts.place(one.failed_at),
        texts.place(one.ticket),
        round(one.wall * 1000),
        texts.place(one.replay),
        0 if one.timeline is None else _timeline(one, one.timeline, texts, limits),
    ]


def _timeline(one: Result, line: Timeline, texts: _Texts, limits: _Limits) -> dict[str, Any]:
    engines = list(line.engines)
    drawn = bars(line.requests, line.seconds, limits.bars)
    broke = one.failed_at and one.outcome in (Outcome.FAIL, Outcome.KNOWN, Outcome.ERROR)
    requests = [
        number
        for bar in drawn
        for number in (
            _row(engines, bar.engine),
            _ms(bar.at),
            -1 if bar.until is None else _ms(bar.until) - _ms(bar.at),
            KINDS.index(bar.kind),
            bar.status or 0,
            texts.place(bar.ended),
            texts.place(bar.session),
            _step(bar.step),
            bar.many,
        )
    ]
    phases = [
        number
        for one in line.phases
        for number in (
            _row(engines, one.engine),
            texts.place(one.name),
            _ms(one.at),
            _ms(one.until),
            one.generation,
            _step(one.step),
        )
    ]
    breakers = [
        number
        for one in line.breakers
        for number in (
            _row(engines, one.worker),
            texts.place(one.state),
            _ms(one.at),
            _step(one.step),
        )
    ]
    return {
        "ms": _ms(line.seconds),
        "engines": [texts.place(name) for name in engines],
        "requests": requests,
        "all": len(line.requests),
        "phases": phases,
        "breakers": breakers,
        "log": [
            number
            for one in lines(line.router, limits.lines)
            for number in (
                -1 if one.at is None else _ms(one.at),
                texts.place(one.text),
                _step(one.step),
            )
        ],
        "steps": [
            number for one in line.steps for number in (_ms(one.at or 0), texts.place(one.text))
        ],
        "broke": len(line.steps) - 1 if broke else -1,
    }


def _ms(seconds: float) -> int:
    return round(seconds * 1000)


def _step(step: int | None) -> int:
    return -1 if step is None else step


def _row(engines: list[str], name: str | None) -> int:
    """An engine's place; -1 for the clients, and for a worker that is none of the engines."""
    return engines.index(name) if name in engines else -1
