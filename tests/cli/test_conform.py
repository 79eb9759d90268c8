"""`staticfire conform`: exit codes and what it says. The naive router stands for others."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from staticfire.cli import main
from staticfire.cli.conform import exit_status
from staticfire.report.results import Outcome, Result, Run

whole_run = pytest.mark.realtime
"""A run of pytest over all features: seconds, which `make test` has not."""


def conform(*args):
    return CliRunner().invoke(main, ["conform", *args])


def run_of(*results):
    """A run with scenarios of a level and an outcome."""
    found = tuple(
        Result("id", "", "t", "f", level, "mine", "mock", outcome) for level, outcome in results
    )
    idle = (Outcome.UNSUPPORTED, Outcome.NOT_APPLICABLE)
    ran = sum(outcome not in idle for _, outcome in results)
    return Run("1", "now", "mock", 1, (), len(found), ran, results=found)


@pytest.mark.parametrize(
    ("results", "status"),
    [
        ([("must", Outcome.PASS), ("should", Outcome.KNOWN)], 0),
        ([("must", Outcome.PASS), ("observe", Outcome.FAIL)], 0),
        ([("must", Outcome.PASS), ("should", Outcome.FAIL)], 1),
        ([("must", Outcome.FIXED)], 1),
        ([("must", Outcome.FAIL), ("must", Outcome.ERROR)], 3),
        ([("must", Outcome.UNSUPPORTED), ("must", Outcome.NOT_APPLICABLE)], 5),
        ([], 5),
    ],
)
def test_the_exit_status_is_what_the_run_means(results, status):
    """0 as expected, 1 broken or fixed, 3 the harness, 5 nothing ran; observed ones never fail."""
    assert exit_status(run_of(*results)) == status


@whole_run
def test_a_kept_promise_is_exit_0_and_a_report(tmp_path):
    """One case by its id; the report says suite, rules, router, and what came of it."""
    report = tmp_path / "r.json"
    told = conform(
        "--router", "naive-without-flaws", "--id", "client-faults-never-open", "--report", str(report)
    )  # fmt: skip
    assert told.exit_code == 0, told.output
    assert "must    2 pass" in told.output
    run = json.loads(report.read_text())
    assert (run["rules"], run["selected"], run["ran"]) == (1, 2, 2)
    assert {one["outcome"] for one in run["results"]} == {"pass"}


@whole_run
def test_a_broken_promise_is_exit_1_and_tells_how_to_see_it_again():
    """The promise, what came, the seed and the id, and the row for a known bug."""
    told = conform("--router", "naive", "--id", "client-faults-never-open", "--seed", "5")
    assert told.exit_code == 1
    assert "fail  client-faults-never-open [JSON]" in told.output
    assert "expected whole answers with 400 only" in told.output
    assert "--seed 5 --id client-faults-never-open" in told.output
    assert '[["client-faults-never-open"]]' in told.output


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "either --router or --router-command"),
        (("--router", "naive", "--router-command", "x"), "either --router or --router-command"),
        (("--router", "nave"), 'did you mean "naive"?'),
        (("--router-command", "mine {port}"), "no {workers}"),
        (("--router-command", "x {port} {workers}", "--lacks", "sesions"), 'did you mean "sessions"?'),
        (("--router", "naive", "--shard", "3/2"), "I/N with I from 1 to N"),
        (("--router", "naive", "--profile", "cor"), "cor"),
    ],
)  # fmt: skip
def test_wrong_input_is_exit_2(args, message):
    """Before a scenario runs."""
    told = conform(*args)
    assert told.exit_code == 2
    assert message in told.output


@whole_run
def test_an_id_that_nobody_has_is_exit_2():
    """Not a run of nothing."""
    told = conform("--router", "naive", "--id", "nobody")
    assert (told.exit_code, "no scenario nobody here" in told.output) == (2, True)


@whole_run
def test_nothing_ran_is_exit_5():
    """Also when the profile and the id have nothing in common."""
    told = conform("--router", "naive", "--profile", "sessions", "--id", "many-at-once")
    assert told.exit_code == 5
    assert "nothing ran" in told.output


@whole_run
def test_a_dry_run_lists_the_scenarios_and_runs_none():
    """Node ids, one a line."""
    told = conform("--router", "naive", "--profile", "backpressure", "--dry-run")
    assert told.exit_code == 0
    assert "staticfire.features/backpressure.feature::test_" in told.output


def test_jobs_without_the_plugin_for_them_say_what_to_install(monkeypatch):
    """Before anything runs."""
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    told = conform("--router", "naive", "--jobs", "2")
    assert told.exit_code == 2
    assert "pip install pytest-xdist" in told.output
