"""Thins long timelines out: requests that are alike and near become one bar, logs lose their middle."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from staticfire.report.kinds import Kind, kind_of
from staticfire.report.results import Line, Request

__all__ = ["LIMITS", "LINES", "LOGS", "Bar", "bars", "limit_for", "lines"]

LIMITS = (5000, 2000, 1000, 500, 200)
"""Bars of one timeline at the most; the largest with which a page stays small is taken."""

PAGE = 60_000
"""Bars of a page, as far as the limits go: about 1.4 MB of it."""

LINES = (200, 80, 40, 20, 10)
"""Lines of one router's log at the most; the largest with which a page stays small is taken."""

LOGS = 4_000
"""Lines of a page, as far as `LINES` go: about 0.6 MB of it."""

BINS = 100
"""Stretches into which a thinned timeline's time is cut."""


class Bar(NamedTuple):
    """One request, or `many` of them that came to the same one after another."""

    engine: str | None
    at: float
    until: float | None
    kind: Kind
    status: int | None
    ended: str
    session: str | None
    step: int | None
    many: int = 1


def limit_for(sizes: Iterable[int], page: int = PAGE, limits: Sequence[int] = LIMITS) -> int:
    """How many each timeline may have, given how many each one has and what the page holds."""
    sizes = list(sizes)
    fits = (limit for limit in limits if sum(min(size, limit) for size in sizes) <= page)
    return next(fits, limits[-1])


def lines(log: Sequence[Line], limit: int) -> list[Line]:
    """A log's beginning and end; where it is cut it says how much is left out."""
    if len(log) <= limit:
        return list(log)
    first = limit // 4
    last = limit - first
    cut = log[first : len(log) - last]
    told = Line(cut[0].at, f"… {len(cut)} lines left out", cut[0].step)
    return [*log[:first], told, *log[len(log) - last :]]


def bars(requests: Sequence[Request], seconds: float, limit: int) -> list[Bar]:
    """Every request by itself, or together with its like where there are more than `limit`.

    Only what has the same engine, kind, status, end and step within one hundredth of the time is
    put together, so that a single failure among thousands of answers stays a bar of its own.
    """
    single = [
        Bar(
            one.engine,
            one.at,
            one.until,
            kind_of(one),
            one.status,
            one.ended,
            one.session,
            one.step,
        )
        for one in requests
    ]
    if len(single) <= limit:
        return single
    width = seconds / BINS or 1.0
    found: dict[tuple[object, ...], Bar] = {}
    for bar in single:
        key = (bar.engine, bar.kind, bar.status, bar.ended, bar.step, int(bar.at / width))
        before = found.get(key)
        if before is None:
            found[key] = bar._replace(session=None)
            continue
        ends = [one.until for one in (before, bar) if one.until is not None]
        both = len(ends) == 2
        found[key] = before._replace(until=max(ends) if both else None, many=before.many + 1)
    return list(found.values())
