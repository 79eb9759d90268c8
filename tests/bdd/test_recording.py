"""What a run with `--engine-report` writes down."""

from __future__ import annotations

import pytest

from staticfire.report.joined import read_all
from staticfire.report.results import Outcome

FEATURE = """
    Feature: f
      @id:kept @must
      Scenario: an engine answers
        Given an engine "a" that loads for 10 seconds, then serves
        And the router in front of all engines
        And the router is ready
        When 2 JSON requests are sent one after another
        Then every request succeeds

      @id:broken @should
      Scenario Outline: an engine that is busy for <seconds> seconds
        Given an engine "a" that is busy for <seconds> seconds
        When a JSON request is sent
        Then the request succeeds

        Examples:
          | seconds |
          | 8       |

      @id:known
      Scenario: another engine that is busy
        Given an engine "a" that is busy for 8 seconds
        When a JSON request is sent
        Then the request succeeds

      @id:fixed
      Scenario: a third engine
        Given an engine "a" that serves
        When a JSON request is sent
        Then the request succeeds

      @id:elsewhere @os:win32
      Scenario: on another system
        Given an engine "a" that serves

      @id:wrong
      Scenario: a step that names nobody
        Given an engine "a" that serves
        When engine "b" resets chat for 1 request
"""
ROWS = """
    [["known"]]
    when = {}
    bug = "#12"
    reason = "it is known"

    [["fixed"]]
    when = {}
    bug = "#13"
    reason = "it was known"
"""


OWN = ("-o", "staticfire_features=features", "--expectations", "known.toml")
"""Rows may name the scenarios of the project's own folders."""


@pytest.fixture
def written(project):
    """Runs the feature with a report, and reads it back by scenario."""
    project.write("features/f.feature", FEATURE)
    project.write("known.toml", ROWS)

    def run():
        project.run(*OWN, "--engine-report", "r.json")
        (found,) = read_all(project.path / "r.json")
        return found, {one.scenario: one for one in found.results}

    return run


def test_every_outcome_is_told_apart(written):
    """A broken harness is no failure of the router, and neither is a known one or a row too many."""
    run, found = written()
    assert {name: one.outcome for name, one in found.items()} == {
        "kept": Outcome.PASS,
        "broken": Outcome.FAIL,
        "known": Outcome.KNOWN,
        "fixed": Outcome.FIXED,
        "elsewhere": Outcome.NOT_APPLICABLE,
        "wrong": Outcome.ERROR,
    }
    assert (run.selected, run.ran, run.seed, run.lane) == (6, 5, 7, "mock")
    assert found["known"].ticket == "#12"


def test_a_failure_says_where_why_and_how_to_see_it_again(written):
    """Its step with file and line, what came instead, the line that replays it."""
    _, found = written()
    broken = found["broken"]
    assert (broken.example, broken.level) == ("8", "should")
    assert broken.failed_at.startswith("features/f.feature:")
    assert broken.failed_at.endswith("Then the request succeeds")
    assert "503" in broken.why
    assert "--engine-seed 7" in broken.replay
    assert "features/f.feature::" in broken.replay


def test_a_timeline_orders_what_happened_at_one_instant(written):
    """Phases, requests and log lines name the step in which they came."""
    _, found = written()
    line = found["kept"].timeline
    assert [(one.name, one.at, one.until) for one in line.phases] == [
        ("loading", 0.0, 10.0),
        ("serving", 10.0, line.seconds),
    ]
    assert [one.step for one in line.requests if one.id] == [3, 3]
    assert {one.at for one in line.requests if one.id} == {line.seconds}
    assert [one.text for one in line.steps][3] == "When 2 JSON requests are sent one after another"
    assert [(one.worker, one.state) for one in line.breakers] == [("a", "closed")]
    assert any("joins the rotation" in one.text for one in line.router)


def test_no_address_of_this_run_is_written_down(written):
    """Engines go by their names, so that two runs of one seed say the same."""
    _, found = written()
    line = found["kept"].timeline
    assert line.router
    assert not [one.text for one in line.router if "127.0.0.1" in one.text]


def test_scenarios_without_a_router_say_so(written):
    """What no router takes part in is the lane's, not the router's."""
    _, found = written()
    assert [name for name, one in found.items() if one.routed] == ["kept"]


def test_the_forms_are_asked_for_by_name_and_can_be_several(project):
    """One run, three files; each is told at the end."""
    project.write("f.feature", FEATURE)
    names = ("r.html", "r.json", "deep/r.md")
    wanted = [word for name in names for word in ("--engine-report", name)]
    result = project.run("f.feature", "--engine-id", "kept", *wanted)
    assert all((project.path / name).stat().st_size for name in names)
    result.stdout.fnmatch_lines([f"*results of 1 scenarios in *{name}" for name in names])


def test_a_form_that_is_none_stops_the_run_before_it_begins(project):
    """Not after ten minutes of tests."""
    project.write("f.feature", FEATURE)
    result = project.run("--engine-report", "r.xml")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--engine-report: expected a file that ends in .html*"])


def test_without_a_report_nothing_is_recorded(project):
    """Nobody pays for what was not asked for: no recorder, no marks."""
    project.write("f.feature", FEATURE)
    project.write(
        "conftest.py",
        """
        def pytest_sessionfinish(session):
            assert not session.config.pluginmanager.hasplugin("staticfire-recorder")
            print("no recorder")
    """,
    )
    result = project.run("f.feature", "-s", "--engine-id", "kept")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*no recorder*"])


@pytest.mark.realtime
def test_results_of_xdist_workers_come_together(pytester, project):
    """Whoever ran a scenario, its result and timeline stand in the one report."""
    project.write("f.feature", FEATURE)
    pytester.runpytest_subprocess(
        "-p", "no:randomly", "--mock-engines", "--engine-seed", "7", "-n", "2",
        "-o", "asyncio_default_fixture_loop_scope=function", "--engine-report", "r.json",
    )  # fmt: skip
    (run,) = read_all(project.path / "r.json")
    assert len(run.results) == 6
    assert sum(one.timeline is not None for one in run.results) == 5
