"""What pytest-bdd passes in silence is an error."""

from __future__ import annotations

import pytest

STEPS = """
    from staticfire.bdd.step import given, when

    @given("a step")
    def _():
        pass
"""


@pytest.mark.parametrize(
    ("feature", "message"),
    [
        (
            """
            Feature: f
              @id:one
              Scenario: same
                Given a step
              @id:two
              Scenario: same
                Given a step
            """,
            "*f.feature:4, 7: 2 scenarios are called 'same'; only one would run*",
        ),
        (
            """
            Feature: f
              @id:one
              Scenario: nothing
                Givn a step
            """,
            "*f.feature:4: scenario 'nothing' has no steps and would pass; is 'Givn a step' a *",
        ),
        (
            """
            Feature: f
              Scenario: nameless
                Given a step
            """,
            "*f.feature:3: scenario 'nameless' has no @id: tag*",
        ),
        (
            """
            Feature: f
              @id:one
              Scenario: a
                Given a step
              @id:one
              Scenario: b
                Given a step
            """,
            "*f.feature:7: @id:one is taken by *f.feature:4; ids are never reused*",
        ),
        (
            """
            Feature: f
              @id:one @needs:clok
              Scenario: a
                Given a step
            """,
            '*f.feature:4: unknown tag @needs:clok; did you mean "clock"?*',
        ),
        (
            """
            Feature: f
              @id:one
              Scenario Outline: a <n>
                Given a step
                @needs:clock
                Examples:
                  | n |
                  | 1 |
            """,
            "*f.feature:6: tags with a colon have no effect on Examples; tag the scenario*",
        ),
        (
            """
            Feature: f
              @id:one
              Scenario: a
                Given an engin "x" that serves
            """,
            '*f.feature:5: no step matches "Given an engin "x" that serves"; the nearest *late*',
        ),
        (
            """
            Feature: f
              @id:one
              Scenario: a
                Then the router is ready
            """,
            '*the router is ready"; it is a step of Given and When, not of Then; `staticfire steps*',
        ),
        (
            """
            Feature: f
              @id:one
              Scenario: a
                Given a stepp
            """,
            '*no step matches "Given a stepp"; the nearest is "a step"; `staticfire steps` *',
        ),
        (
            """
            Feature: f
              @id:one
              Scenario: a
                Given frobnication of zorks
            """,
            '*no step matches "Given frobnication of zorks"; `staticfire steps` lists them all*',
        ),
        (
            """
            Feature: f
              @id:one
              Scenario: a
                And a step
            """,
            "*f.feature:5: First step in a scenario*",
        ),
    ],
)
def test_a_wrong_feature_is_told_before_a_test_runs(project, feature, message):
    """Each finding names file and line, what is wrong, what to do."""
    project.write("conftest.py", STEPS)
    project.write("f.feature", feature)
    result = project.run()
    result.stdout.fnmatch_lines([message])
    result.assert_outcomes(errors=1)


def test_two_patterns_that_match_one_step_are_an_error(project):
    """The alphabetically last pattern would win, whatever it says."""
    project.write(
        "conftest.py",
        """
        from staticfire.bdd.step import given

        @given("a {thing} step")
        def _(thing):
            pass

        @given("a small {thing}")
        def _(thing):
            pass
        """,
    )
    project.write("f.feature", "Feature: f\n  @id:one\n  Scenario: a\n    Given a small step\n")
    project.run().stdout.fnmatch_lines(
        ['*f.feature:4: "Given a small step" matches "a * and "a *; make one narrower*']
    )


def test_a_nearer_definition_overrides(project):
    """A project's own step replaces the library's: only rivals of one scope are ambiguous."""
    project.write(
        "conftest.py",
        """
        from staticfire.bdd.step import when

        @when("{seconds:g} seconds pass")
        def _(seconds):
            print("mine", seconds)
        """,
    )
    project.write("f.feature", "Feature: f\n  @id:one\n  Scenario: a\n    When 8 seconds pass\n")
    result = project.run("-s")
    result.stdout.fnmatch_lines(["*mine 8.0*"])
    result.assert_outcomes(passed=1)
