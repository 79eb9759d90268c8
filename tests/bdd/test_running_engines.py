"""`--engine-url`: scenarios on engines that already run, here our own mock engine as a process."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from staticfire.engine import Answers, MockEngine, NeedsAKey, Rule, Script
from staticfire.stand.loops import RealLoop

pytestmark = pytest.mark.realtime

FEATURE = """
    Feature: An engine that runs
      @id:one @needs:listing @needs:chat
      Scenario: One engine
        Given an engine "service" that serves
        And the router in front of all engines
        When the router is ready
        And a JSON request is sent
        Then the request succeeds
        And engine "service" lists the model

      @id:two @needs:chat
      Scenario: Two engines
        Given 2 engines that serve
        Then engine "e00" lists the model

      @id:never @needs:restart
      Scenario: An engine that is killed
        Given an engine "service" that serves
        When the process of engine "service" dies

      @id:failing @needs:chat
      Scenario: What an engine says is shown
        Given an engine "service" that serves
        When "GET /odd" is asked of engine "service" for 5 seconds
        Then the request succeeds
"""
CHAT = "POST /v1/chat/completions"


@pytest.fixture
def running():
    """A mock engine on the real clock, on a thread of its own, that wants a key."""
    loop = RealLoop()
    locked = ("GET /v1/models", CHAT, "GET /metrics", "GET /is_sleeping")
    rules = [Rule(on, do=NeedsAKey(key="s3cret-key")) for on in locked]
    rules.append(Rule("GET /odd", do=Answers(418, body="your s3cret-key is odd")))
    engine = MockEngine(Script(model="llama", rules=rules))
    loop.run(engine.start())
    yield engine
    loop.run(engine.stop())
    loop.close()


def test_scenarios_run_on_an_engine_that_runs(project, running, monkeypatch):
    """With its model and its key, through the bundled router; what it lacks is skipped by name."""
    monkeypatch.setenv("ENGINE_KEY", "s3cret-key")
    project.write("a.feature", FEATURE)
    result = project.run(
        "--engine-url", running.url, "--engine-key-env", "ENGINE_KEY", "-rs", "--engine-id", "one",
        "--engine-id", "two", "--engine-id", "never", "--engine-report", "out.json", lane=None,
    )  # fmt: skip
    result.assert_outcomes(passed=1, skipped=2)
    result.stdout.fnmatch_lines(["*lane url, clock*"])
    result.stdout.fnmatch_lines(["*needs more than 1 engines, which is what --engine-url names*"])
    result.stdout.fnmatch_lines(["*needs restart, which the lane url lacks*"])
    asked = running.journal.requests()
    assert {r.headers.get("authorization") for r in asked} == {"Bearer s3cret-key"}
    assert {r.method for r in asked} <= {"GET", "POST"}
    assert {r.path for r in asked if r.method == "POST"} == {"/v1/chat/completions"}
    assert {json.loads(r.body)["model"] for r in asked if r.method == "POST"} == {"llama"}
    assert "s3cret" not in result.stdout.str() + (project.path / "out.json").read_text()


def test_the_key_is_in_no_failure(project, running, monkeypatch):
    """An engine that echoes the key in its answer: message, sections, `-vv` and report leave it out."""
    monkeypatch.setenv("ENGINE_KEY", "s3cret-key")
    project.write("a.feature", FEATURE)
    for more in ([], ["-vv"]):
        result = project.run(
            "--engine-url", running.url, "--engine-key-env", "ENGINE_KEY",
            "--engine-id", "failing", "--engine-report", "out.json", *more, lane=None,
        )  # fmt: skip
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(["*your [[]key] is odd*"])
        assert "s3cret" not in result.stdout.str() + (project.path / "out.json").read_text()


def test_a_broken_engine_is_one_clear_error(project):
    """Nothing runs and nothing is skipped: the run ends with the lane, the address and the route."""
    project.write("a.feature", FEATURE)
    result = project.run("--engine-url", "http://127.0.0.1:1", lane=None)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*lane url: http://127.0.0.1:1: /v1/models: *refused*"])


def test_the_engine_lives_on(project):
    """A process that is not ours outlives the run, in the same life."""
    words = [sys.executable, "-m", "staticfire", "engine", "--model", "llama"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            url = json.loads(process.stdout.readline())["url"]
            project.write("a.feature", FEATURE)
            for _ in range(2):
                result = project.run("--engine-url", url, "--engine-id", "one", lane=None)
                result.assert_outcomes(passed=1)
            assert process.poll() is None
        finally:
            process.terminate()
