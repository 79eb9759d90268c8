"""Runs and results that tests make with what matters to them."""

from __future__ import annotations

from typing import Any

import pytest

from staticfire.report.results import Line, Outcome, Phase, Request, Result, Router, Run, Timeline


def a_result(scenario: str = "one", outcome: Outcome = Outcome.PASS, **more: Any) -> Result:
    known: dict[str, Any] = {
        "example": "",
        "title": f"Title of {scenario}",
        "feature": "f",
        "level": "must",
        "router": "bundled",
        "lane": "mock",
    }
    return Result(scenario=scenario, outcome=outcome, **(known | more))


def a_run(*results: Result, **more: Any) -> Run:
    routers = dict.fromkeys(one.router for one in results)
    known: dict[str, Any] = {
        "suite": "0.1.0",
        "started": "2026-01-02T03:04:05+00:00",
        "lane": "mock",
        "seed": 7,
        "routers": tuple(Router(name, "1.2.3") for name in routers),
        "selected": len(results),
        "ran": len(results),
        "results": results,
    }
    return Run(**(known | more))


def a_timeline(requests: int = 2, **more: Any) -> Timeline:
    """One engine that loads, then serves; its requests come in the last step."""
    known: dict[str, Any] = {
        "seconds": 30.5,
        "engines": ("late",),
        "phases": (
            Phase("late", "loading", 0.0, 12.0, 1, 0),
            Phase("late", "serving", 12.0, 30.5, 1, 1),
        ),
        "requests": tuple(
            Request("late", 20.0 + n / 1000, 20.5, 200, "whole", f"judge-{n}", f"s{n}", 1)
            for n in range(requests)
        ),
        "router": (Line(12.0, "late joins the rotation", 1),),
        "steps": (Line(0.0, 'Given an engine "late"', 0), Line(20.0, "When requests come", 1)),
    }
    return Timeline(**(known | more))


@pytest.fixture
def make() -> Any:
    """`make.result(…)`, `make.run(…)`, `make.timeline(…)`."""

    class Make:
        result = staticmethod(a_result)
        run = staticmethod(a_run)
        timeline = staticmethod(a_timeline)

    return Make
