"""What a finished scenario means, given what was expected."""

from __future__ import annotations

import pytest

from staticfire.errors import BrokenPromise
from staticfire.expectations import Expectations, budget_for, parse, settle

ROW = '[["a"]]\nwhen = {}\nbug = "#7"\nreason = "it opens early"\n'
FLAKY = ROW + "flaky = true\nuntil = 2030-01-01\n"
RAISES = ROW + 'raises = "2 of 16"\n'


def expectation(text: str):
    """What a file says of the scenario `a`."""
    return Expectations(parse(text)).resolve("a", {})


@pytest.mark.parametrize(
    ("text", "failure", "result", "told"),
    [
        ("", None, "passed", ""),
        ("", AssertionError("no"), "failed", "no"),
        ("", ValueError("no"), "failed", "no"),
        (ROW, None, "failed", "remove the row at expectations.toml:1"),
        (ROW, AssertionError("no"), "xfailed", "#7: it opens early"),
        (ROW, BrokenPromise("no"), "xfailed", "#7"),
        (ROW, ValueError("no"), "failed", "a broken harness: ValueError: no"),
        (ROW, FileNotFoundError("no"), "failed", "a broken harness"),
        (ROW, KeyboardInterrupt(), "failed", "a broken harness"),
        (FLAKY, None, "passed", "a flaky row passed: #7"),
        (FLAKY, AssertionError("no"), "xfailed", "#7"),
        (FLAKY, TypeError("no"), "failed", "a broken harness"),
        (RAISES, AssertionError("up with 2 of 16 workers"), "xfailed", "#7"),
        (RAISES, AssertionError("up with 16 of 16"), "failed", "found another failure: up with 16"),
        (RAISES, None, "failed", "found a pass"),
    ],
)
def test_each_end_of_each_expectation(text, failure, result, told):
    """The whole table, with what is shown."""
    settled = settle(expectation(text), failure)
    assert settled.result == result
    assert told in settled.message


def test_raises_looks_into_the_failure_as_shown():
    """The shown text may say more than the exception."""
    shown = "Then it opens: 2 of 16 workers"
    assert settle(expectation(RAISES), AssertionError(), text=shown).result == "xfailed"


@pytest.mark.parametrize("text", [ROW, FLAKY])
def test_a_rows_own_cap_is_a_failure(text):
    """The cap shows neither the bug nor its fix, so that it excuses nothing."""
    wanted = expectation(text + "serve_timeout_secs = 90\n")
    failure = BrokenPromise(budget_for(wanted).ran_out("it was not served"))
    settled = settle(wanted, failure)
    assert settled.result == "failed"
    assert settled.message.split()[0].rstrip(":") == "inconclusive"
