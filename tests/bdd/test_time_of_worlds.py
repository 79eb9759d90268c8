"""How near a time must be to the promised one."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from staticfire.bdd.world import ROUGHLY, World


@pytest.mark.parametrize(
    ("exact", "found", "near"),
    [
        (True, 30.0004, True),
        (True, 30.001, False),
        (False, 30.0 + ROUGHLY, True),
        (False, 37.0, False),
        (False, 23.0, False),
    ],
)
def test_virtual_time_is_exact_and_a_time_that_runs_is_not(exact, found, near):
    """To the millisecond in one, within a few seconds or a fifth in the other."""
    assert World.near(SimpleNamespace(exact=exact), found, 30.0) is near
