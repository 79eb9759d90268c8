"""Carries what a scenario's steps did from xdist's workers to the reports.

pytest-bdd 9 keeps it beside each test report, in this process only: with `-n 2` its Cucumber JSON
was an empty list, in silence. A worker puts it into the report, which travels; the controller takes
it out again before the reporters look.
"""

from __future__ import annotations

from typing import Any

import pytest

CARRIED = "staticfire_scenario"
"""The attribute of a report that travels."""


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    report = yield
    if hasattr(item.config, "workerinput"):
        from pytest_bdd.reporting import test_report_context_registry as contexts

        context = contexts.get(report)
        if context is not None:
            setattr(report, CARRIED, {"scenario": context.scenario, "name": context.name})
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    carried = getattr(report, CARRIED, None)
    if carried is None:
        return
    from pytest_bdd.reporting import ReportContext
    from pytest_bdd.reporting import test_report_context_registry as contexts

    if report not in contexts:
        contexts[report] = ReportContext(**carried)
