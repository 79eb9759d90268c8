"""The options of engines that run, and lanes that are broken: one clear error before any test."""

from __future__ import annotations

import pytest

ONE = """
    Feature: One
      @id:one @needs:chat
      Scenario: An engine answers
        Given an engine "a" that serves
        When a JSON request is sent
        Then the request succeeds
"""


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--engine-url", "10.0.0.1:80"], "*--engine-url: expected a URL*write http://10.0.0.1:80"),
        (["--engine-model", "llama"], "*--engine-url: expected the engines of a url lane*"),
        (
            ["--mock-engines", "--engine-url", "http://a:1"],
            "*--engine-url*expected a lane of engines that already run, found one of kind mock*",
        ),
        (
            ["--engine-url", "http://a:1", "--engine-key-env", "NO_SUCH_KEY"],
            "*--api-key-env NO_SUCH_KEY: expected a variable that is set*",
        ),
        (
            ["--engine-lane", "mine"],
            "*[[]tool.staticfire.lanes.mine[]] command: expected an engine that is told its {port}*",
        ),
        (["--engine-lane", "gpu"], "*lane gpu: expected the device 'H200', found no device*"),
    ],
)
def test_what_cannot_be_used_is_one_clear_error(project, monkeypatch, args, message):
    """Exit 4 with where, what was expected and what came; a lane goes by the project's name for it."""
    monkeypatch.setenv("PATH", str(project.path))
    project.write("f.feature", ONE)
    project.write(
        "pyproject.toml",
        """
        [tool.staticfire.lanes.mine]
        kind = "command"
        command = "serve"

        [tool.staticfire.lanes.gpu]
        kind = "command"
        command = "serve {port}"
        device = "H200"
        """,
    )
    result = project.run(*args, lane=None)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])


def test_a_lane_that_is_not_here_is_not_asked(project, monkeypatch):
    """It skips with what to install, as ever; a run of nothing but that fails."""
    monkeypatch.setenv("PATH", str(project.path))
    project.write("f.feature", ONE)
    result = project.run("-rs", lane="vllm")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines(["*no environment with vLLM is named: *"])


def test_a_row_may_name_every_kind_of_lane(project):
    """A bug of engines that a command starts is known by that; a word that is no kind is refused."""
    project.write("f.feature", ONE)
    row = "[['one']]\nwhen = {{ engine = '{}' }}\nbug = '#1'\nreason = 'it is slow'\n"
    project.write("rows.toml", row.format("command"))
    args = ("--expectations", "rows.toml", "-o", "staticfire_features=.")
    project.run(*args).assert_outcomes(passed=1)
    project.write("rows.toml", row.format("comand"))
    result = project.run(*args)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(['*"command"?*'])


def test_a_replay_names_the_engines_again(project):
    """Who copies the line of a failure asks the same engines, with the name of the key."""
    from staticfire.bdd.session import Asked

    given = (("urls", ("http://a:1", "http://b:2")), ("key_env", "KEY"))
    asked = Asked("url", (), "real", 1, None, (), given=given)
    assert " ".join(asked.given_words()) == (
        "--engine-url http://a:1 --engine-url http://b:2 --engine-key-env KEY"
    )
