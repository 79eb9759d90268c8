"""Scenarios of the packaged features, run on routers of these tests."""

from __future__ import annotations

import importlib

import pytest

from staticfire.bdd.collect import features_dir
from staticfire.bdd.tags import tags_of
from staticfire.stand.routers.bundled import BundledRouter


class FirstExamples:
    """Keeps one example of each chosen scenario, so that a whole run takes seconds."""

    def __init__(self, wanted: set[str]) -> None:
        self.wanted = wanted
        self.failures: dict[str, str] = {}
        self.ran: set[str] = set()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        seen: set[str] = set()
        kept = []
        for item in items:
            tags = tags_of(item)
            if tags and tags.id in self.wanted and tags.id not in seen:
                seen.add(tags.id)
                kept.append(item)
        items[:] = kept

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call":
            return
        scenario = dict(report.user_properties)["scenario"]
        self.ran.add(scenario)
        if report.failed:
            self.failures[scenario] = str(report.longrepr)


@pytest.fixture
def run_on(pytester):
    """Run chosen scenarios of the packaged features on a router of tests/naive_router.py."""

    def run(router: str, feature: str, wanted: set[str]) -> FirstExamples:
        target = router if ":" in router else f"naive_router:{router}"
        module, _, kind = target.partition(":")
        found = getattr(importlib.import_module(module), kind)
        ours = getattr(found, "stands_for_ours", issubclass(found, BundledRouter))
        # Under this name also promises about our own inside are asked.
        name = "bundled" if ours and module != "naive_router" else kind.lower()
        pytester.makepyprojecttoml(f"[tool.staticfire.routers.{name}]\npython = '{target}'\n")
        chosen = FirstExamples(wanted)
        pytester.inline_run(
            "-c", "pyproject.toml", "--rootdir", str(pytester.path), "-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:hypothesispytest",
            "-o", "asyncio_default_fixture_loop_scope=function", "--mock-engines",
            "--router", name, str(features_dir() / f"{feature}.feature"),
            plugins=[chosen],
        )  # fmt: skip
        return chosen

    return run
