"""What a finished scenario means, given what was expected of it.

| expected      | passed         | promise broken         | harness broken |
|---------------|----------------|------------------------|----------------|
| pass          | passed         | failed                 | failed         |
| xfail         | failed (XPASS) | xfailed, if it is that bug | failed     |
| xfail, flaky  | passed, told   | xfailed, if it is that bug | failed     |

It is that bug when the text of `raises`, if the row has one, occurs in the failure, and the
failure is not `inconclusive`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from staticfire.expectations.budget import INCONCLUSIVE
from staticfire.expectations.resolve import Expectation

__all__ = ["Settled", "settle"]


@dataclass(frozen=True, slots=True)
class Settled:
    """How a scenario counts, with a line to show."""

    result: Literal["passed", "failed", "xfailed"]
    message: str = ""


def settle(
    expectation: Expectation, failure: BaseException | None, *, text: str | None = None
) -> Settled:
    """How a scenario counts that ended with `failure` (None: it passed).

    `text` is the failure as shown, where that says more than the exception itself.
    """
    row = expectation.row
    if failure is None:
        if row is None:
            return Settled("passed")
        if row.flaky:
            return Settled("passed", f"a flaky row passed: {row.bug} ({row.where})")
        return Settled(
            "failed",
            f"expected the known bug {row.bug}, found a pass: remove the row at {row.where}",
        )
    words = str(failure) if text is None else text
    if row is None:
        return Settled("failed", words)
    if not isinstance(failure, AssertionError):
        return Settled(
            "failed",
            f"expected the known bug {row.bug}, found a broken harness: "
            f"{type(failure).__name__}: {words}",
        )
    if words.startswith(INCONCLUSIVE):
        return Settled("failed", words)
    if row.raises is not None and row.raises not in words:
        return Settled(
            "failed",
            f'expected the known bug {row.bug} to say "{row.raises}", found another failure: '
            f"{words}",
        )
    return Settled("xfailed", f"{row.bug}: {row.reason}")
