"""The naive router's flaws, one at a time: the scenario that names a flaw catches it."""

from __future__ import annotations

import pytest

from staticfire.bdd.collect import features_dir
from staticfire.bdd.tags import tags_of
from staticfire.stand.routers import WITHOUT_FLAWS
from staticfire.stand.routers.flaws import FLAWS

pytestmark = pytest.mark.realtime  # twenty scenarios: seconds, which `make test` has not

FEATURES = ("backpressure", "late_workers", "fleets")


class Chosen:
    """Keeps, of each router, the scenario that names its flaw; of the flawless one all of them."""

    def __init__(self) -> None:
        self.failures: dict[str, dict[str, str]] = {}
        self.ran: dict[str, set[str]] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        kept, seen = [], set()
        caught_by = {f"naive-{name}": {flaw.caught_by} for name, flaw in FLAWS.items()}
        caught_by[WITHOUT_FLAWS] = {flaw.caught_by for flaw in FLAWS.values()}
        for item in items:
            router, scenario = item.callspec.params["router_name"], tags_of(item).id
            if scenario in caught_by[router] and (router, scenario) not in seen:
                seen.add((router, scenario))
                kept.append(item)
        items[:] = kept

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call":
            return
        told = dict(report.user_properties)
        router, scenario = told["router"], told["scenario"]
        self.ran.setdefault(router, set()).add(scenario)
        if report.failed:
            self.failures.setdefault(router, {})[scenario] = str(report.longrepr)


@pytest.fixture
def mutants(pytester):
    """One run of every mutant on the scenario that names its flaw, and of the flawless router on all."""
    pytester.makepyprojecttoml("")
    chosen = Chosen()
    pytester.inline_run(
        "-c", "pyproject.toml", "--rootdir", str(pytester.path), "-p", "no:randomly", "-p", "no:cacheprovider",
        "-p", "no:hypothesispytest", "-o", "asyncio_default_fixture_loop_scope=function", "--mock-engines", "--tb=native",
        "--router", WITHOUT_FLAWS, *(f"--router=naive-{flaw}" for flaw in FLAWS),
        *(str(features_dir() / f"{name}.feature") for name in FEATURES),
        plugins=[chosen],
    )  # fmt: skip
    return chosen


def test_each_flaw_is_caught_by_the_scenario_that_names_it(mutants):
    """A broken promise, not a broken harness; and without any flaw the same scenarios pass."""
    assert mutants.ran[WITHOUT_FLAWS] == {flaw.caught_by for flaw in FLAWS.values()}
    assert WITHOUT_FLAWS not in mutants.failures
    caught = {f"naive-{name}": {flaw.caught_by} for name, flaw in FLAWS.items()}
    assert {router: set(failed) for router, failed in mutants.failures.items()} == caught
    told = [words for failed in mutants.failures.values() for words in failed.values()]
    assert all("BrokenPromise" in words for words in told)
