"""The transition table, cell by cell."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from staticfire.readiness import Status, table
from staticfire.readiness.table import TABLE, Sign

PAGE = Path(__file__).parents[2] / "docs/reference/readiness.md"

S = Status
STARTING, RUNNING, READY, DEGRADED = S.STARTING, S.RUNNING, S.READY, S.DEGRADED
WRONG, FAILED, RECOVERING, STOPPED = S.MISCONFIGURED, S.FAILED, S.RECOVERING, S.STOPPED

CELLS = {
    Sign.LISTED: (RUNNING, RUNNING, READY, DEGRADED, WRONG, RUNNING, RECOVERING, STOPPED),
    Sign.BACK: (RUNNING, RUNNING, READY, READY, RUNNING, RUNNING, RECOVERING, STOPPED),
    Sign.UNLISTED: (STARTING, RUNNING, RUNNING, RUNNING, WRONG, FAILED, RECOVERING, STOPPED),
    Sign.PROVEN: (READY, READY, READY, READY, READY, READY, RECOVERING, STOPPED),
    Sign.MENDING: (STARTING, RUNNING, READY, DEGRADED, WRONG, FAILED, RECOVERING, STOPPED),
    Sign.BUSY: (STARTING, RUNNING, READY, DEGRADED, RUNNING, FAILED, RECOVERING, STOPPED),
    Sign.BLIP: (STARTING, RUNNING, READY, DEGRADED, RUNNING, FAILED, RECOVERING, STOPPED),
    Sign.FAILING: (STARTING, RUNNING, DEGRADED, DEGRADED, RUNNING, FAILED, RECOVERING, STOPPED),
    Sign.REFUSING: (STARTING, RUNNING, READY, DEGRADED, WRONG, FAILED, RECOVERING, STOPPED),
    Sign.REFUSED: (WRONG, WRONG, WRONG, WRONG, WRONG, WRONG, RECOVERING, STOPPED),
    Sign.PAUSED: (RUNNING, RUNNING, DEGRADED, DEGRADED, RUNNING, RUNNING, RECOVERING, STOPPED),
    Sign.ENDED: (STARTING, STARTING, STARTING, STARTING, STARTING, FAILED, RECOVERING, STOPPED),
    Sign.OVERDUE: (FAILED, RUNNING, READY, DEGRADED, WRONG, FAILED, RECOVERING, STOPPED),
    Sign.BEGAN: (STARTING,) * 8,
    Sign.EXITED: (FAILED,) * 6 + (RECOVERING, STOPPED),
    Sign.STOPPED: (STOPPED,) * 8,
    Sign.RESTARTING: (RECOVERING,) * 8,
    Sign.NOTHING: tuple(Status),
}
"""Each sign with what follows from each status, in the order of `Status`."""


@pytest.mark.parametrize(
    ("status", "sign"), [pytest.param(a, b, id=f"{a}-{b}") for a in Status for b in Sign]
)
def test_each_cell(status, sign):
    """Every status under every sign is what is written here too."""
    assert table.after(status, sign) is CELLS[sign][list(Status).index(status)]


def test_nothing_is_left_out():
    """A status or a sign that is added has to be decided about in the whole of the table."""
    assert {status: set(row) for status, row in TABLE.items()} == {key: set(Sign) for key in Status}
    assert set(CELLS) == set(Sign)


def test_only_an_answer_or_a_listing_that_comes_back_makes_ready():
    """Nothing else leads to ready from anywhere else."""
    to_ready = {
        sign for status, sign in itertools.product(Status, Sign)
        if status is not READY and TABLE[status][sign] is READY
    }  # fmt: skip
    assert to_ready == {Sign.PROVEN, Sign.BACK}


def test_failed_comes_from_the_process_and_the_budget_only():
    """No reply, however bad, is a reason to call a service failed."""
    to_failed = {
        sign for status, sign in itertools.product(Status, Sign)
        if status is not FAILED and TABLE[status][sign] is FAILED
    }  # fmt: skip
    assert to_failed == {Sign.EXITED, Sign.OVERDUE}


def rows_of(text):
    """Each row of the tables whose first cell starts with `from`: status, sign, what follows."""
    heads = None
    for line in text.splitlines():
        cells = [cell.strip().strip("`") for cell in re.findall(r"\|([^|]*)(?=\|)", line)]
        if not cells:
            heads = None
        elif cells[0].startswith("from"):
            heads = cells[1:]
        elif heads and not cells[0].startswith("-"):
            for sign, follows in zip(heads, cells[1:], strict=True):
                yield cells[0], sign, follows


@pytest.mark.parametrize("text", [table.__doc__, PAGE.read_text()], ids=["docstring", "page"])
def test_the_table_that_is_shown_is_the_one_that_decides(text):
    """Both places where people read it, the docstring and the reference page."""
    shown = {(status, sign): follows for status, sign, follows in rows_of(text)}
    for status, sign in itertools.product(Status, Sign):
        follows = TABLE[status][sign]
        others = shown.get(("any but the two below", sign.value), "-")
        found = shown.get((status.value, sign.value), others)
        told = status.value if found == "-" else found
        assert told == follows.value, f"{status} under {sign}: shown {found}, decided {follows}"
