"""Cucumber JSON is whole, with and without xdist."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.realtime

FEATURE = """
    Feature: f
      @id:one
      Scenario: an engine answers
        Given an engine "a" that serves
        When a JSON request is sent
        Then the request succeeds
      @id:two
      Scenario: an engine that is busy
        Given an engine "a" that is busy
        When a JSON request is sent
        Then the request succeeds
      @id:three
      Scenario Outline: it takes <n> seconds
        When <n> seconds pass
        Then it is <n> s
        Examples:
          | n  |
          | 5  |
          | 50 |
"""


def told(project, *args):
    """The scenarios of the report: name and each step's status, times left out."""
    project.run("--cucumberjson=told.json", *args)
    features = json.loads((project.path / "told.json").read_text())
    return sorted(
        (one["id"], one["name"], [step["result"]["status"] for step in one["steps"]])
        for feature in features
        for one in feature["elements"]
    )


@pytest.mark.parametrize("args", [(), ("-n", "2")], ids=["alone", "two workers"])
def test_each_scenario_is_told_with_its_steps(project, args):
    """Four scenarios, one of them red, however many workers ran them."""
    project.write("f.feature", FEATURE)
    passed = "passed"
    assert told(project, *args) == [
        ("test_an_engine_answers", "an engine answers", [passed] * 3),
        ("test_an_engine_that_is_busy", "an engine that is busy", [passed, passed, "failed"]),
        ("test_it_takes_n_seconds[50]", "it takes 50 seconds", [passed] * 2),
        ("test_it_takes_n_seconds[5]", "it takes 5 seconds", [passed] * 2),
    ]


def test_a_failure_keeps_its_message_across_workers(project):
    """The failing step says why."""
    project.write("f.feature", FEATURE)
    project.run("--cucumberjson=told.json", "-n", "2")
    assert (
        "BrokenPromise: expected a request that succeeds"
        in (project.path / "told.json").read_text()
    )


def test_tests_without_scenarios_are_left_alone(project):
    """A plain test has nothing to carry."""
    project.write("test_plain.py", "def test_it():\n    pass\n")
    assert told(project, "-n", "2") == []
