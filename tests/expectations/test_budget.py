"""Whose time a wait-until-served step has."""

from __future__ import annotations

import pytest

from staticfire.expectations import Expectations, budget_for, parse

ROW = '[["a"]]\nwhen = {}\nbug = "#7"\nreason = "r"\n'


def expectation(text: str, scenario: str = "a"):
    """What a file says of a scenario."""
    return Expectations(parse(text)).resolve(scenario, {})


@pytest.mark.parametrize(
    ("text", "step", "seconds", "source"),
    [
        ("", None, 600.0, "default"),
        (ROW, None, 600.0, "default"),
        (ROW + "serve_timeout_secs = 90", None, 90.0, "row"),
        (ROW + "serve_timeout_secs = 90", 30.0, 30.0, "step"),
        ("", 30.0, 30.0, "step"),
    ],
)
def test_the_step_goes_before_the_row_before_600_seconds(text, step, seconds, source):
    """A time in the step replaces the row's, which replaces the default."""
    budget = budget_for(expectation(text), step)
    assert (budget.seconds, budget.source) == (seconds, source)


def test_a_rows_own_cap_is_inconclusive():
    """A failure by the row's cap starts with the word, and says what to raise."""
    budget = budget_for(expectation(ROW + "serve_timeout_secs = 90"))
    message = budget.ran_out('engine "late" was not served (listing)')
    assert message.startswith("inconclusive: ")
    assert "90 s" in message
    assert "#7" in message


@pytest.mark.parametrize(("text", "step"), [("", None), (ROW, None), (ROW, 5.0)])
def test_other_times_are_conclusive(text, step):
    """A failure by the default or by the step's own time is a plain one."""
    message = budget_for(expectation(text), step).ran_out("it was not served")
    assert message.startswith("it was not served within ")


@pytest.mark.parametrize(("used", "told"), [(60.0, False), (60.1, True), (69.2, True), (1, False)])
def test_a_pass_over_two_thirds_of_the_cap_is_reported(used, told):
    """69.2 s of 90 s passes and is told; 60 s is within two thirds."""
    line = budget_for(expectation(ROW + "serve_timeout_secs = 90")).close_call(used)
    assert (line is not None) is told
    if line is not None:
        assert "raise serve_timeout_secs" in line


def test_only_a_rows_cap_is_reported():
    """599 s of the default 600 s are nobody's row."""
    assert budget_for(expectation("")).close_call(599.0) is None
