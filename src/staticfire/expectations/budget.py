"""How long a wait-until-served step waits, for which reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from staticfire.expectations.resolve import Expectation

__all__ = ["DEFAULT_SECONDS", "INCONCLUSIVE", "Budget", "budget_for"]

DEFAULT_SECONDS: Final = 600.0
"""Scenario seconds without a row and without a time in the step."""

INCONCLUSIVE: Final = "inconclusive"
"""The first word of a failure that a row's own cap made: it neither shows the bug nor its fix."""

MOST: Final = 2 / 3
"""A pass that used more of a row's cap than this is reported: 69.2 s of 90 s was luck."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Scenario seconds to wait, and who says so: the step, the row or the default."""

    seconds: float
    source: Literal["step", "row", "default"]
    bug: str = ""

    def ran_out(self, what: str) -> str:
        """The message of the failure; `what` says who was not served, and why."""
        if self.source == "row":
            return (
                f"{INCONCLUSIVE}: {what} within the {self.seconds:g} s that the row of {self.bug} "
                f"allows; expected to be served, or the known bug to show itself; "
                f"raise serve_timeout_secs over twice the healthy load"
            )
        return f"{what} within {self.seconds:g} s"

    def close_call(self, used: float) -> str | None:
        """What to report of a pass that took `used` seconds; None when there was room."""
        if self.source != "row" or used <= self.seconds * MOST:
            return None
        return (
            f"served after {used:.3g} s, over two thirds of the {self.seconds:g} s that the row "
            f"of {self.bug} allows: raise serve_timeout_secs"
        )


def budget_for(expectation: Expectation, step_seconds: float | None = None) -> Budget:
    """The budget of one step: its own time replaces the matching row's, which replaces 600 s."""
    if step_seconds is not None:
        return Budget(step_seconds, "step")
    row = expectation.row
    if row is not None and row.serve_timeout_secs is not None:
        return Budget(row.serve_timeout_secs, "row", row.bug)
    return Budget(DEFAULT_SECONDS, "default")
