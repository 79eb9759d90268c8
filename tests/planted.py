"""One scenario, run in this process on a planted bug: is it red, and what does it say?"""

from __future__ import annotations

import pytest

from staticfire.bdd.collect import features_dir
from staticfire.bdd.tags import tags_of


class Only:
    """Keeps the first example of one scenario, and its failure."""

    def __init__(self, wanted: str) -> None:
        self.wanted, self.failure, self.ran = wanted, "", 0

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        kept = [item for item in items if (tags := tags_of(item)) and tags.id == self.wanted]
        items[:] = kept[:1]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            self.ran += 1
            self.failure = str(report.longrepr) if report.failed else ""


def run_scenario(pytester: pytest.Pytester, scenario: str) -> Only:
    """Run the scenario of that id in this process."""
    only = Only(scenario)
    files = [
        str(path)
        for path in features_dir().glob("*.feature")
        if f"@id:{scenario} " in path.read_text(encoding="utf-8")
    ]
    pytester.inline_run(
        "-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:hypothesispytest",
        "-o", "asyncio_default_fixture_loop_scope=function", "--mock-engines", *files,
        plugins=[only],
    )  # fmt: skip
    assert only.ran == 1, f"no scenario {scenario}"
    return only
