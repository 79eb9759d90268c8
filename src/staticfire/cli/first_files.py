"""The files of a first project, as `staticfire init` writes them."""

from __future__ import annotations

__all__ = ["FILES"]

FEATURE = """\
Feature: A router finds the engines that serve
  An engine needs minutes to load its model. Users must not notice: they are sent to engines that
  serve, and to the late one as soon as it does. The minutes pass in milliseconds.

  @id:first-late-engine
  Scenario: A late engine joins, and nobody is sent to it too early
    Given an engine "early" that serves
    And an engine "late" that refuses for 12 seconds, then loads for 30 seconds, then serves
    And the router in front of all engines
    And the router is ready
    When a JSON request is sent every 0.5 seconds for 60 seconds
    Then every request succeeds
    And no request reached an engine before it served
    And engine "late" served clients

  @id:first-full-engine
  Scenario: A full engine is not a broken engine
    Given an engine "sole" that serves
    And the router in front of all engines
    And the router is ready
    When engine "sole" answers chat with 503 for 20 requests
    And 20 JSON requests are sent one after another
    Then no request succeeds
    When a streaming request is sent
    Then the request succeeds
"""

CONFTEST = '''\
"""Steps of our own, beside those that `staticfire steps` lists."""

from staticfire.bdd.step import then


@then('engine "{name}" served clients', example='engine "late" served clients')
def _(world, name):
    """At least one request of a client was answered 200 by that engine."""
    served = [
        request
        for request in world.mock(name).journal.requests(on="POST /v1/chat/completions")
        if request.status == 200 and "x-request-id" in request.headers
    ]
    assert served, f"engine {name!r} served nobody"
'''

PYPROJECT = """\
[tool.pytest]
staticfire_features = ["features"]
staticfire_expectations = "expectations.toml"
# engine_lane = "mock"    # then `pytest` alone runs the features, without --mock-engines
"""

EXPECTATIONS = """\
# Known bugs. The scenario of a row still runs and is expected to fail; the day it passes, the run
# fails until the row is gone.
#
# [["first-late-engine"]]
# when = { router = "bundled" }
# bug = "#12"
# reason = "late engines are found too late"
"""

FILES = {
    "features/first.feature": FEATURE,
    "conftest.py": CONFTEST,
    "pyproject.toml": PYPROJECT,
    "expectations.toml": EXPECTATIONS,
}
"""Each file with its text, by its path in the project."""
