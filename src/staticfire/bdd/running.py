"""How tests run: coroutines on their world's loop, steps noted, failures explained."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from staticfire.bdd.keys import FAILED_AT, SESSION, SO_FAR, TOLD, WORLD

if TYPE_CHECKING:
    from staticfire.bdd.session import Session


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a coroutine test that uses the world on the world's loop."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj) or "world" not in pyfuncitem.fixturenames:
        return None
    wanted = inspect.signature(pyfuncitem.obj).parameters
    arguments = {n: v for n, v in pyfuncitem.funcargs.items() if n in wanted}
    made: Any = pyfuncitem.funcargs["world"]
    made.run(pyfuncitem.obj(**arguments))
    return True


class LendsItsLoop:
    """Gives pytest-asyncio's tests a virtual loop where they use the world."""

    @pytest.hookimpl(trylast=True)
    def pytest_asyncio_loop_factories(self, config: Any, item: Any) -> Mapping[str, Any]:
        import asyncio

        from staticfire.clock.virtual import VirtualLoop

        del config
        if "world" in getattr(item, "fixturenames", ()):
            return {"virtual": VirtualLoop}
        return {"asyncio": asyncio.new_event_loop}


def pytest_bdd_before_scenario(request: Any) -> None:
    """The world begins with the scenario, so that every step has its time."""
    if SESSION in request.config.stash:
        request.getfixturevalue("world")


def pytest_bdd_before_step(request: Any, feature: Any, step: Any, step_func: Any) -> None:
    """Keep the steps so far; refuse a step that nobody would await."""
    if inspect.iscoroutinefunction(step_func) or inspect.isasyncgenfunction(step_func):
        raise TypeError(
            f"{_place(request.config, feature, step)}: pytest-bdd's own @{step.type} never awaits "
            f"an async step, so it would pass whatever it asserts; use "
            f"`from staticfire.bdd.step import {step.type}`"
        )
    made = request.node.stash.get(WORLD, None)
    at = f"{made.seconds:10.3f} s  " if made is not None else ""
    request.node.stash.setdefault(SO_FAR, []).append(f"{at}{step.keyword} {step.name}")


def pytest_bdd_step_error(request: Any, feature: Any, step: Any) -> None:
    where = _place(request.config, feature, step)
    request.node.stash[FAILED_AT] = f"{where}: {step.keyword} {step.name}"


def _place(config: pytest.Config, feature: Any, step: Any) -> str:
    """File and line of a step, as seen from where pytest was started."""
    path, here = Path(feature.filename), config.invocation_params.dir
    shown = path.relative_to(here) if path.is_relative_to(here) else path
    return f"{shown}:{step.line_number}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    report = yield
    session = item.config.stash.get(SESSION, None)
    if session is not None and report.failed:
        from staticfire.bdd.marking import explained, sections, without_key

        if item.config.get_verbosity() < 2 and call.excinfo is not None:
            report.longrepr = (
                explained(item.stash.get(FAILED_AT, None), call.excinfo.value) or report.longrepr
            )
        report.sections += sections(
            item, item.stash.get(SO_FAR, []), item.stash.get(WORLD, None), session
        )
        if session.lane.key.headers:
            report.longrepr = without_key(str(report.longrepr), session)
            report.sections = without_key(report.sections, session)
    return report


class Ran:
    """Counts what ran, so that a run that named a lane and ran nothing fails."""

    def __init__(self, session: Session, told: list[str]) -> None:
        self._session, self._told, self._ran = session, told, 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._ran += report.when == "call" and (report.outcome != "skipped" or _expected(report))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        self._session.lane.close()
        config = session.config
        if hasattr(config, "workerinput") or config.option.collectonly:
            return
        if not self._ran and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
            self._told.append(f"lane {self._session.asked.lane} ran nothing: all was skipped")


def _expected(report: pytest.TestReport) -> bool:
    """An expected failure is reported as skipped, and did run."""
    return hasattr(report, "wasxfail")


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    for line in config.stash.get(TOLD, []):
        terminalreporter.write_line(f"static fire: {line}")
