"""The plugin as a user meets it: options, skips, fixtures, failures, known bugs."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

ONE = """
    Feature: f
      @id:one
      Scenario: an engine answers
        Given an engine "a" that serves
        When a JSON request is sent
        Then the request succeeds
"""
BROKEN = """
    Feature: f
      @id:broken
      Scenario: an engine that is busy
        Given an engine "a" that is busy for 8 seconds
        When 2 seconds pass
        And a JSON request is sent
        Then the request succeeds
"""


# --- lanes


def test_without_a_lane_features_skip_and_name_the_flag(project):
    """Nobody wonders why nothing ran. Without a lane only the project's feature folders count."""
    project.write("features/f.feature", ONE)
    result = project.run("-rs", "-o", "staticfire_features=features", lane=None)
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*f.feature: needs engines: run with --mock-engines*"])


def test_without_a_lane_other_peoples_features_are_left_alone(project):
    """A project that binds its features with pytest-bdd itself sees nothing of ours."""
    project.write("features/f.feature", ONE)
    assert project.run(lane=None).ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_other_peoples_tags_are_left_alone(project):
    """A feature that its project binds itself keeps its tags as markers, whatever their names."""
    project.write(
        "features/f.feature",
        """
        Feature: f
          @should
          Scenario: theirs
            Given a step
    """,
    )
    project.write(
        "test_theirs.py",
        """
        from pytest_bdd import given, scenarios

        scenarios("features/f.feature")

        @given("a step")
        def _():
            pass
    """,
    )
    project.write("pytest.ini", "[pytest]\nmarkers = should\n")
    project.run("-m", "should", lane=None).assert_outcomes(passed=1)


def test_mock_engines_is_the_lane_mock(project):
    """`pytest --mock-engines` runs a feature without any Python beside it."""
    project.write("f.feature", ONE)
    result = project.run("--mock-engines", "-v", lane=None)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["*lane mock, clock virtual*", "f.feature::test_an_engine_answers PASSED*"]
    )


def test_the_options_have_ini_twins(project):
    """A project may settle lane, seed and clock once."""
    project.write("f.feature", ONE)
    project.write("pytest.ini", "[pytest]\nengine_lane = mock\nengine_clock = real\n")
    result = project.run(lane=None)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*lane mock, clock real*--engine-seed 7*"])


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ["--engine-lane", "mok"],
            "*--engine-lane: expected a known lane, found 'mok'; did you mean \"mock\"?",
        ),
        (
            ["--router", "bundle"],
            "*--router: expected a known router, found 'bundle'; did you mean \"bundled\"?",
        ),
        (["--expectations", "nowhere.toml"], "*nowhere.toml: expected a readable file*"),
    ],
)
def test_a_wrong_option_is_one_clear_error(project, args, message):
    """Before a test runs: where, what was expected, what came, the nearest right one."""
    project.write("f.feature", ONE)
    result = project.run(*args)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])


def test_a_wrong_lane_table_is_one_clear_error(project):
    """Also when it comes from pyproject.toml."""
    project.write("pyproject.toml", "[tool.staticfire.lanes.fast]\nkind = 'mck'\n")
    project.write("f.feature", ONE)
    result = project.run()
    result.stderr.fnmatch_lines(['*[[]tool.staticfire.lanes.fast[]]: expected a key kind*"mock"?*'])


def test_a_run_that_named_a_lane_and_ran_nothing_fails(project):
    """All skipped is not green."""
    project.write("f.feature", ONE.replace("@id:one", "@id:one @os:win32"))
    result = project.run()
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines(["*lane mock ran nothing: all was skipped*"])


def test_what_a_lane_lacks_is_the_reason_of_the_skip(project):
    """A capability is named, not an engine."""
    project.write(
        "f.feature", ONE + BROKEN.partition("Feature: f")[2].replace("@id", "@needs:clock @id")
    )
    result = project.run("--engine-clock", "real", "-rs")
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(["*needs clock, which the lane mock lacks*"])


def test_several_routers_run_every_scenario_each(project):
    """`--router` is repeatable; the name is part of the node id."""
    project.write(
        "pyproject.toml",
        "[tool.staticfire.routers.mine]\n"
        "python = 'staticfire.stand.routers.bundled:BundledRouter'\n",
    )
    project.write("f.feature", ONE)
    result = project.run("--router", "bundled", "--router", "mine", "-v")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        ["*test_an_engine_answers[[]bundled[]] PASSED*", "*[[]mine[]] PASSED*"]
    )


# --- a failure


def test_a_failure_tells_what_to_do(project):
    """The step with its line, the promise, what came, the steps so far, the timeline, the replay."""
    project.write("f.feature", BROKEN)
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*f.feature:8: Then the request succeeds",
            "BrokenPromise: expected a request that succeeds; came:",
            "*503 whole*",
            "*Scenario so far*",
            '*0.000 s  Given an engine "a" that is busy for 8 seconds',
            "*2.000 s  And a JSON request is sent",
            "*Engine a*",
            "*2.000 s  a #1 request*POST /v1/chat/completions",
            "*Replay*",
            "pytest --mock-engines --engine-seed 7 'f.feature::test_an_engine_that_is_busy'",
        ]
    )


def test_a_wrong_word_in_a_step_is_one_line(project):
    """A reader without Python sees what can be said, not where our code raised."""
    project.write("f.feature", ONE.replace("JSON", "json"))
    result = project.run()
    result.stdout.fnmatch_lines(
        ["*f.feature:6: When a json request is sent", "WrongStep: a request is JSON or streaming*"]
    )
    assert "fixturefunc" not in result.stdout.str()


def test_a_long_timeline_shows_its_end(project):
    """The promise is not buried under a load's rows; -vv shows them all."""
    project.write(
        "f.feature",
        BROKEN.replace("When 2 seconds pass", "When 60 JSON requests are sent one after another"),
    )
    brief = project.run()
    brief.stdout.fnmatch_lines(["*Engine a*", "… * earlier lines, shown by -vv"])
    assert len(brief.outlines) < len(project.run("-vv").outlines)


def test_the_replay_of_a_packaged_feature_runs(project):
    """From any folder: by the package's name, not by a path that is not there."""
    project.write(
        "pyproject.toml",
        "[tool.staticfire.routers.cuts]\npython = 'staticfire.stand.routers.naive:NaiveRouter'\n",
    )
    name = "test_a_500_whose_body_declares_a_400_is_the_clients_fault"
    test = f"staticfire.features/backpressure.feature::{name}"
    failed = project.run("--router", "cuts", "--pyargs", test)
    failed.assert_outcomes(failed=1)
    failed.stdout.fnmatch_lines(
        [f"pytest --mock-engines --router cuts --engine-seed 7 --pyargs '{test}'"]
    )


def test_the_replay_names_every_router(project):
    """With several routers the node id names one; all of them must be asked for again."""
    project.write(
        "pyproject.toml",
        "[tool.staticfire.routers.mine]\n"
        "python = 'staticfire.stand.routers.bundled:BundledRouter'\n",
    )
    project.write("f.feature", BROKEN)
    result = project.run("--router", "mine", "--router", "bundled")
    result.stdout.fnmatch_lines(
        ["pytest * --router mine --router bundled * 'f.feature::*[[]bundled[]]'"]
    )


def test_a_router_that_cannot_be_imported_is_told_once(project):
    """Before a test runs, not once a scenario."""
    project.write("pyproject.toml", "[tool.staticfire.routers.mine]\npython = 'nowhere:Router'\n")
    project.write("f.feature", ONE)
    result = project.run("--router", "mine")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*router mine: nowhere:Router: expected a class that can be *"])


def test_a_feature_named_without_a_lane_says_what_is_missing(project):
    """`pytest first.feature` is not "not found": it is skipped, and names the flag."""
    project.write("first.feature", ONE)
    result = project.run("first.feature", "-rs", lane=None)
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*needs engines: run with --mock-engines*"])


def test_the_seed_of_the_ini_file_is_a_number(project):
    """In TOML too, where 7 is no text."""
    project.write("f.feature", ONE)
    project.write("pyproject.toml", "[tool.pytest]\nengine_seed = 11\nengine_lane = 'mock'\n")
    result = project._pytester.runpytest_inprocess(
        "-p", "no:randomly", "-o", "asyncio_default_fixture_loop_scope=function"
    )
    result.stdout.fnmatch_lines(["*--engine-seed 11"])


def test_one_node_id_runs_one_example(project):
    """A scenario and one row of its outline are chosen like any test."""
    project.write(
        "f.feature",
        """
        Feature: f
          @id:one
          Scenario Outline: it takes <n> seconds
            Given an engine "a" that serves
            When <n> seconds pass
            Then it is <n> s
            Examples:
              | n  |
              | 5  |
              | 50 |
        """,
    )
    result = project.run("f.feature::test_it_takes_n_seconds[50]", "-v")
    result.assert_outcomes(passed=1)
    project.run("-k", "5 and not 50").assert_outcomes(passed=1, deselected=1)


def test_junit_carries_scenario_and_seed(project):
    """A machine finds the scenario's id and what replays it."""
    project.write("f.feature", ONE)
    project.run("--junitxml=report.xml")
    case = ET.parse(project.path / "report.xml").getroot().find(".//testcase")
    properties = {p.get("name"): p.get("value") for p in case.iter("property")}
    assert properties == {"scenario": "one", "seed": "7", "router": "bundled"}


# --- fixtures


def test_plain_async_tests_use_the_fixtures(project):
    """Without Gherkin and without pytest-asyncio: `async def` on the world's clock."""
    project.write(
        "test_plain.py",
        """
        import asyncio
        from staticfire.engine import Refuses

        async def test_late(mock_engine, router, client, world):
            engine = await mock_engine("late", life=[Refuses(seconds=12)])
            await router(policy="round_robin")
            await asyncio.sleep(13)
            answer = await client().chat("qwen", stream=True)
            assert answer.ok and answer.done
            assert world.seconds == 13.0
            assert len(engine.journal.requests(on="POST /v1/chat/completions")) == 2

        async def test_fleet(fleet, client):
            engines = await fleet(3)
            assert [engine.name for engine in engines] == ["e00", "e01", "e02"]
            assert (await client(engines[2].url).chat("qwen")).ok
        """,
    )
    project.run().assert_outcomes(passed=2)


def test_pytest_asyncio_shares_its_loop(project):
    """A test of pytest-asyncio runs on the same virtual loop as its fixtures."""
    project.write(
        "test_plain.py",
        """
        import asyncio
        import pytest

        @pytest.mark.asyncio
        async def test_it(mock_engine, client, world):
            await mock_engine("a")
            await asyncio.sleep(3600)
            assert (await client().chat("qwen")).ok
            assert world.seconds == 3600.0

        @pytest.mark.asyncio
        async def test_without_a_world_the_loop_is_the_usual_one():
            assert "Virtual" not in type(asyncio.get_running_loop()).__name__
        """,
    )
    project.run().assert_outcomes(passed=2)


def test_without_a_lane_fixtures_skip_and_name_the_flag(project):
    """The same for a plain test."""
    project.write("test_plain.py", "def test_it(mock_engine):\n    pass\n")
    result = project.run("-rs", lane=None)
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*needs engines: run with --mock-engines*"])


def test_the_real_clock_serves_between_steps(project):
    """On the real clock engines live on a thread: a blocking client reaches them."""
    project.write(
        "test_plain.py",
        """
        import urllib.request

        def test_it(world):
            engine = world.run(world.lane_engine("a"))
            with urllib.request.urlopen(engine.url + "/v1/models", timeout=5) as answer:
                assert answer.status == 200
        """,
    )
    project.run("--engine-clock", "real").assert_outcomes(passed=1)


# --- known bugs

ROW = """
    [["broken"]]
    when = {{ lane = "mock" }}
    bug = "#12"
    reason = "a busy engine does not answer"
    {more}
"""


def test_a_known_bug_is_an_expected_failure(project):
    """Its reason names the ticket."""
    project.write("features/f.feature", BROKEN)
    project.write("known.toml", ROW.format(more='raises = "expected a request that succeeds"'))
    result = project.run(
        "--expectations", "known.toml", "-o", "staticfire_features=features", "-rx"
    )
    result.assert_outcomes(xfailed=1)
    result.stdout.fnmatch_lines(["*#12: a busy engine does not answer*"])


def test_another_failure_is_not_excused(project):
    """`raises` names the text that must occur."""
    project.write("features/f.feature", BROKEN)
    project.write("known.toml", ROW.format(more='raises = "the stream was cut"'))
    result = project.run("--expectations", "known.toml", "-o", "staticfire_features=features")
    result.assert_outcomes(failed=1)


def test_a_broken_harness_is_not_excused(project):
    """Only a broken promise can be a known bug."""
    project.write("features/f.feature", BROKEN.replace('"a"', '"b"').replace("succeeds", "fails"))
    project.write(
        "features/conftest.py",
        """
        from staticfire.bdd.step import then

        @then("the request fails")
        def _():
            raise KeyError("no such thing")
        """,
    )
    project.write("known.toml", ROW.format(more=""))
    result = project.run("--expectations", "known.toml", "-o", "staticfire_features=features")
    result.assert_outcomes(failed=1)


def test_a_bug_that_is_gone_fails_the_run(project):
    """XPASS is strict: the row must go."""
    project.write("features/f.feature", BROKEN.replace("2 seconds pass", "9 seconds pass"))
    project.write("known.toml", ROW.format(more=""))
    result = project.run("--expectations", "known.toml", "-o", "staticfire_features=features")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*XPASS(strict)*#12*"])


def test_a_row_of_an_unknown_scenario_is_an_error(project):
    """Whatever was selected, and before a test runs."""
    project.write("features/f.feature", ONE)
    project.write("known.toml", ROW.format(more=""))
    result = project.run(
        "--expectations", "known.toml", "-o", "staticfire_features=features", "-k", "nothing"
    )
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*known.toml*broken*"])


# --- two workers


@pytest.mark.realtime
def test_two_workers_share_the_seed(project):
    """With -n 2 the run is the same run: one seed, from the controller."""
    project.write("f.feature", ONE + BROKEN.partition("Feature: f")[2])
    result = project.run("-n", "2")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*--engine-seed 7*", "pytest --mock-engines --engine-seed 7 *"])


# --- the packaged features


@pytest.mark.realtime
def test_packaged_features_run_by_name(project):
    """`--pyargs staticfire.features` runs ours from any folder."""
    result = project.run("--pyargs", "staticfire.features", "--collect-only", "-q")
    found = re.search(r"(\d+) tests collected", result.stdout.str())
    assert found is not None
    assert int(found[1]) > 100
