"""What a report of 200 scenarios weighs, and how long a browser takes to draw it.

The scenarios are as large as ours come: most have a few dozen requests, ten have 16 engines and
335 sessions with five requests each.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from bench.browser import look, missing
from bench.figure import Figure
from staticfire.report.page import page
from staticfire.report.results import (
    Breaker,
    Line,
    Outcome,
    Phase,
    Request,
    Result,
    Router,
    Run,
    Timeline,
)

__all__ = ["TINY", "a_run", "measure"]

TINY = {"runs": 1, "scenarios": 3, "large": 1, "browser": False}

SESSIONS, REQUESTS, ENGINES = 335, 5, 16


def measure(
    runs: int = 5, scenarios: int = 200, large: int = 10, *, browser: bool = True
) -> list[Figure]:
    """Size and time to make the page; the time to draw it where there is a Chromium."""
    run = a_run(scenarios, large)
    sizes, made = [], []
    for _ in range(runs):
        began = time.perf_counter()
        text = page([run])
        made.append(time.perf_counter() - began)
        sizes.append(len(text.encode()) / 1e6)
    what = f"page of {scenarios} scenarios, {large} of them of {SESSIONS} sessions"
    figures = [
        Figure(what, "MB", tuple(sizes), 2.0),
        Figure("made", "s", tuple(made)),
    ]
    if not browser or missing():
        return figures
    with tempfile.TemporaryDirectory(prefix="staticfire-report-") as folder:
        file = Path(folder) / "report.html"
        file.write_text(text, encoding="utf-8")
        seen = [look(file, "scenario-0//mock/bundled") for _ in range(runs)]
    drawn = tuple(float(one.root["data-drawn"] or "nan") / 1000 for one in seen)
    lines = tuple(float(one.root["data-timeline"] or "nan") / 1000 for one in seen)
    note = "in Chromium, from the script's start to the finished layout"
    return [
        *figures,
        Figure("drawn, a large timeline open", "s", drawn, 1.0, note),
        Figure("that timeline alone", "s", lines),
    ]


def a_run(scenarios: int, large: int) -> Run:
    """A run with timelines of both sizes, the large ones first."""
    small, big = _timeline(4, 12, 3), _timeline(ENGINES, SESSIONS, REQUESTS)
    results = tuple(
        Result(
            scenario=f"scenario-{number}",
            example="",
            title=f"While {number} engines come up nobody is sent to one that is not ready",
            feature=f"feature_{number % 12}",
            level="must",
            router="bundled",
            lane="mock",
            outcome=Outcome.FAIL if number % 20 == 0 else Outcome.PASS,
            why="expected requests that all succeed; came:\n  502" if number % 20 == 0 else "",
            failed_at="features/a.feature:12: Then every request succeeds" * (number % 20 == 0),
            wall=0.25,
            replay=f"pytest --mock-engines --engine-seed 7 'features/a.feature::test_{number}'",
            timeline=big if number < large else small,
        )
        for number in range(scenarios)
    )
    return Run(
        suite="0.1.0",
        started="2026-01-01T00:00:00+00:00",
        lane="mock",
        seed=7,
        routers=(Router("bundled", "0.1.0"),),
        selected=scenarios,
        ran=scenarios,
        results=results,
    )


def _timeline(engines: int, sessions: int, each: int) -> Timeline:
    """Engines that load for minutes, then sessions that all ask at once, some of them shed."""
    names = tuple(f"e-{number:02}" for number in range(engines))
    requests = []
    for number in range(sessions * each):
        shed = number % 50 == 0
        begins = 364.0 + (number // sessions) * 0.2 + number % 97 * 0.001
        engine = names[number % engines]
        requests.append(
            Request(
                engine,
                begins,
                begins + (0.0 if shed else 0.15 + number % 7 * 0.01),
                503 if shed else 200,
                "whole",
                f"judge-{number}",
                f"s{number % sessions:03}",
                4,
            )
        )
    phases = []
    for number, name in enumerate(names):
        late = 12.0 + number
        phases += [
            Phase(name, "refuses", 0.0, late, 1, 0),
            Phase(name, "loading", late, 352.0 + number, 1, 2),
            Phase(name, "serving", 352.0 + number, 366.0, 1, 2),
        ]
    return Timeline(
        seconds=366.0,
        engines=names,
        phases=tuple(phases),
        requests=tuple(requests),
        breakers=tuple(Breaker(name, 0.0, "closed", 1) for name in names),
        router=tuple(
            Line(352.0 + number, f"w{number:02} joins the rotation", 2) for number in range(engines)
        ),
        steps=tuple(
            Line(at, text, number)
            for number, (at, text) in enumerate(
                (
                    (0.0, f"Given a fleet of {engines} engines"),
                    (0.0, "And the router in front of all engines"),
                    (0.0, "When the router is ready"),
                    (364.0, f"And {sessions} sessions send {each} requests each"),
                    (364.0, "Then no request was lost"),
                    (366.0, "And every request succeeds"),
                )
            )
        ),
    )
