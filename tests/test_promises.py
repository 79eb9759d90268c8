"""Every promise can fail: a naive router is red where ours is green, a planted bug is named."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

import journal_digest  # noqa: F401 - pytester forgets what its runs import first
import naive_router  # noqa: F401
from staticfire.bdd.collect import features_dir
from staticfire.bdd.tags import tags_of

ROUTER_PROMISES = {
    "backpressure": {
        "backpressure-sole-engine-is-never-shed",
        "backpressure-in-stream",
        "backpressure-interleaved-with-errors",
        "errors-open-the-breaker",
        "half-open-probe-answered-503-closes",
        "late-503-leaves-an-open-breaker-alone",
        "client-faults-never-open",
        "declared-client-fault-never-opens",
        "cut-answers-open-the-breaker",
    },
    "late_workers": {
        "behind-the-gate-the-spread-is-even",
        "late-workers-get-the-new-sessions",
        "late-workers-of-each-model",
        "nothing-is-reindexed-later",
        "nobody-is-forgotten",
        "a-router-with-nobody-says-so",
    },
    "fleets": {
        "fleet-behind-the-gate",
        "fleet-in-turns",
        "fleet-coming-up",
        "fleet-an-engine-dies",
        "fleet-users-come-and-go",
    },
    "load": {"behind-the-gate-nobody-waits-for-a-cache"},
}
"""The promises about routers by feature, those about our own inside left out."""


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
        pytester.makepyprojecttoml(
            f"[tool.staticfire.routers.{router.lower()}]\npython = 'naive_router:{router}'\n"
        )
        chosen = FirstExamples(wanted)
        pytester.inline_run(
            "-c", "pyproject.toml", "--rootdir", str(pytester.path), "-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:hypothesispytest",
            "-o", "asyncio_default_fixture_loop_scope=function", "--mock-engines",
            "--router", router.lower(), str(features_dir() / f"{feature}.feature"),
            plugins=[chosen],
        )  # fmt: skip
        return chosen

    return run


@pytest.mark.parametrize("feature", ROUTER_PROMISES)
def test_every_router_promise_is_red_on_the_naive_router(run_on, feature):
    """A promise that no router can break promises nothing."""
    promises = ROUTER_PROMISES[feature]
    result = run_on("NaiveRouter", feature, promises)
    assert result.ran == promises
    assert promises - result.failures.keys() == set()
    assert all("BrokenPromise" in failure for failure in result.failures.values())


@pytest.mark.parametrize(
    ("router", "scenario", "words"),
    [
        ("Counts503", "backpressure-sole-engine-is-never-shed", "rests after errors"),
        ("Counts503", "half-open-probe-answered-503-closes", "20 whole answers with 200"),
        ("NeverOpens", "errors-open-the-breaker", "expected a whole 503"),
        ("NeverOpens", "cut-answers-open-the-breaker", "expected a whole 503"),
        (
            "LooksRarely",
            "late-workers-get-the-new-sessions",
            "expected 8 sessions 'late' on 'qwen1'",
        ),
    ],
)
def test_a_bug_planted_in_our_router_is_named(run_on, router, scenario, words):
    """The message alone says which rule was broken."""
    feature = next(name for name, ids in ROUTER_PROMISES.items() if scenario in ids)
    result = run_on(router, feature, {scenario})
    assert words in result.failures[scenario]


def journals(folder: Path) -> dict[str, list[object]]:
    """What the scenarios of a run left in a folder, by scenario."""
    found: dict[str, list[object]] = defaultdict(list)
    for file in sorted(folder.iterdir()):
        for line in file.read_text().splitlines():
            scenario, rows = json.loads(line)
            found[scenario].append(rows)
    return dict(found)


def test_a_scenario_gives_the_same_journal_twice_and_with_two_workers(pytester, monkeypatch):
    """Virtual time is exact: one seed, one journal, ports aside."""
    ini = pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    arguments = [
        "-c", str(ini), "--mock-engines", "--engine-seed", "7", "-q", "-p", "journal_digest",
        "-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:hypothesispytest",
        *(str(features_dir() / f"{name}.feature") for name in ("backpressure", "engines")),
    ]  # fmt: skip
    alone, two = pytester.mkdir("alone"), pytester.mkdir("two")
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    monkeypatch.setenv("JOURNALS", str(two))
    command = [sys.executable, "-m", "pytest", "-n", "2", *arguments]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as workers:
        monkeypatch.setenv("JOURNALS", str(alone))
        assert pytester.inline_run(*arguments).ret == 0
        assert workers.wait() == 0
    assert len(journals(alone)) > 50
    assert journals(alone) == journals(two)
