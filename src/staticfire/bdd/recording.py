"""Collects what each scenario came to, for `--engine-report`. A run without it loads none of this."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from staticfire import __version__
from staticfire.bdd.applies import UNSUPPORTED
from staticfire.bdd.chosen import example_of, router_of
from staticfire.bdd.collect import title_of
from staticfire.bdd.keys import FAILED_AT, MARKS, SO_FAR, WORLD
from staticfire.bdd.marking import replay, without_key
from staticfire.bdd.marks import mark
from staticfire.bdd.tags import OF_ROUTERS, Tags, tags_of
from staticfire.bdd.timeline import by_name, timeline
from staticfire.clock import REAL
from staticfire.errors import BrokenPromise
from staticfire.report.results import Outcome, Result, Router, Run
from staticfire.report.writing import write_report

if TYPE_CHECKING:
    from staticfire.bdd.session import Session

__all__ = ["Recorder", "outcome_of"]

CARRIED = "staticfire_result"
"""The attribute of a report in which a result travels, from an xdist worker too."""


def outcome_of(report: pytest.TestReport, failure: BaseException | None) -> tuple[Outcome, str]:
    """What a report of pytest says of a scenario, and why."""
    if hasattr(report, "wasxfail") and report.outcome == "skipped":
        return Outcome.KNOWN, str(report.wasxfail)
    if report.outcome == "skipped":
        why = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        why = why.removeprefix("Skipped: ")
        if why.startswith(UNSUPPORTED):
            return Outcome.UNSUPPORTED, why.removeprefix(UNSUPPORTED)
        return Outcome.NOT_APPLICABLE, why
    if report.outcome == "passed":
        return Outcome.PASS, ""
    if failure is None:  # a strict xfail that passed
        return Outcome.FIXED, str(report.longrepr)
    if report.when == "call" and isinstance(failure, AssertionError):
        return Outcome.FAIL, str(failure) if isinstance(failure, BrokenPromise) else repr(failure)
    return Outcome.ERROR, f"{type(failure).__name__}: {failure}"


class Recorder:
    """Gathers results while tests run, and writes them when the run ends."""

    def __init__(self, session: Session, files: Sequence[Path], told: list[str]) -> None:
        self._session, self._files, self._told = session, files, told
        self._started = datetime.fromtimestamp(REAL.wall(), UTC)
        self._results: dict[str, Result] = {}
        self._walls: dict[str, float] = {}

    def pytest_bdd_before_step(self, request: Any) -> None:
        """Keep how things stood as a step began."""
        world = request.node.stash.get(WORLD, None)
        if world is not None:
            request.node.stash.setdefault(MARKS, []).append(mark(world))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        report = yield
        tags = tags_of(item)
        if tags is None or (report.when != "call" and report.outcome == "passed"):
            return report
        failure = call.excinfo.value if call.excinfo is not None else None
        result = self._result(item, tags, report, failure)
        setattr(report, CARRIED, without_key(msgspec.to_builtins(result), self._session))
        return report

    def _result(
        self, item: Any, tags: Tags, report: pytest.TestReport, failure: BaseException | None
    ) -> Result:
        outcome, why = outcome_of(report, failure)
        router = router_of(item, self._session)
        row = self._session.expectation(tags, router, example_of(item)).row
        world = item.stash.get(WORLD, None)
        steps, marks = item.stash.get(SO_FAR, []), item.stash.get(MARKS, [])
        if world is not None and steps:
            marks = [*marks, mark(world)]
        return Result(
            scenario=tags.id or "",
            example=example_of(item),
            title=title_of(item),
            feature=item.path.stem,
            level=tags.level,
            router=router,
            lane=self._session.asked.lane,
            outcome=outcome,
            why=why if world is None else by_name(world, why),
            failed_at=item.stash.get(FAILED_AT, "") if outcome is not Outcome.PASS else "",
            ticket=row.bug if row is not None else "",
            link=(row.link or "") if row is not None else "",
            replay=replay(item, self._session),
            timeline=timeline(world, steps, marks) if world is not None and steps else None,
            needs=tuple(sorted(tags.needs & set(OF_ROUTERS))),
            routed=tags.routed,
        )

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """The controller's half: reports of every worker pass here."""
        self._walls[report.nodeid] = self._walls.get(report.nodeid, 0.0) + report.duration
        carried = getattr(report, CARRIED, None)
        if carried is not None:
            self._results[report.nodeid] = msgspec.convert(carried, Result)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        config = session.config
        if hasattr(config, "workerinput") or config.option.collectonly:
            return
        run = self.run(config)
        for file in self._files:
            write_report([run], file)
            self._told.append(f"results of {len(run.results)} scenarios in {file}")

    def run(self, config: pytest.Config) -> Run:
        """What came of all that ran here."""
        results = [
            replace(one, wall=round(self._walls[nodeid], 3))
            for nodeid, one in self._results.items()
        ]
        results.sort(key=lambda one: (one.feature, one.scenario, one.example, one.router))
        idle = (Outcome.UNSUPPORTED, Outcome.NOT_APPLICABLE)
        asked = self._session.asked
        return Run(
            suite=__version__,
            started=self._started.isoformat(timespec="seconds"),
            lane=asked.lane,
            seed=asked.seed,
            routers=tuple(self._router(name) for name in asked.routers),
            selected=len(results),
            ran=sum(one.outcome not in idle for one in results),
            machine=f"{platform.system()} {platform.machine()}",
            profile=config.getoption("engine_profile", "") or "",
            shard=config.getoption("engine_shard", "") or "",
            notes=tuple(self._session.notes),
            results=tuple(results),
        )

    def _router(self, name: str) -> Router:
        found = self._session.router(name)
        entry = getattr(found, "entry", None)
        return Router(
            name=name,
            version=found.version(),
            command=entry.command if entry is not None else "",
            time_scale=found.time_scale or 1.0,
        )
