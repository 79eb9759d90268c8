"""Known bugs: which scenarios are expected to fail here, until when, by which ticket."""

from __future__ import annotations

from staticfire.expectations.budget import DEFAULT_SECONDS, INCONCLUSIVE, Budget, budget_for
from staticfire.expectations.lint import Known, lint
from staticfire.expectations.resolve import Expectation, Expectations, Outcome, load, read
from staticfire.expectations.rows import CONDITIONS, KINDS, Row, Value, parse
from staticfire.expectations.settle import Settled, settle

__all__ = [
    "CONDITIONS",
    "DEFAULT_SECONDS",
    "INCONCLUSIVE",
    "KINDS",
    "Budget",
    "Expectation",
    "Expectations",
    "Known",
    "Outcome",
    "Row",
    "Settled",
    "Value",
    "budget_for",
    "lint",
    "load",
    "parse",
    "read",
    "settle",
]
