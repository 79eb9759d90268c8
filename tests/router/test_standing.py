"""In which row a worker stands."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from staticfire.router.breaker import Breaker, BreakerSettings
from staticfire.router.outcome import Outcome
from staticfire.router.standing import Standing, standing_of
from staticfire.router.wedged import Shedding, Sign

S = 1_000_000_000
TEN = 10 * S


def worker(**facts):
    known = {
        "breaker": Breaker(BreakerSettings(1, 30 * S)), "in_flight": 0, "cap": None,
        "draining": False, "shedding": Shedding(), "sign": Sign.well, "asked_at": 0,
    }  # fmt: skip
    return SimpleNamespace(**known | facts)


def opened(at):
    breaker = Breaker(BreakerSettings(1, 30 * S))
    breaker.record(breaker.admit(at), Outcome.error, at)
    return breaker


SHED = Shedding(since=0, last=0, streak=1)
WISHES = Shedding(since=0, last=0, streak=1, until=20 * S)


@pytest.mark.parametrize(
    ("facts", "now", "expected"),
    [
        ({}, 0, (Standing.able, None)),
        ({"draining": True}, 0, (Standing.out, None)),
        ({"cap": 2, "in_flight": 1}, 0, (Standing.able, None)),
        ({"cap": 2, "in_flight": 2}, 0, (Standing.out, None)),
        ({"breaker": opened(0)}, 0, (Standing.out, 30 * S)),
        ({"breaker": opened(0)}, 30 * S, (Standing.able, None)),
        ({"shedding": SHED}, 0, (Standing.able, S)),
        ({"shedding": SHED}, S, (Standing.able, 2 * S)),
        ({"shedding": SHED}, 2 * S, (Standing.able, None)),
        ({"shedding": WISHES}, 0, (Standing.aside, 20 * S)),
        ({"shedding": WISHES}, 20 * S, (Standing.able, None)),
        ({"shedding": SHED, "sign": Sign.wedged, "asked_at": S}, TEN, (Standing.aside, 11 * S)),
        ({"shedding": SHED, "sign": Sign.wedged, "asked_at": S}, 11 * S, (Standing.due, None)),
        ({"shedding": SHED, "sign": Sign.suspect}, TEN, (Standing.due, None)),
        ({"shedding": SHED, "sign": Sign.wedged, "draining": True}, TEN, (Standing.out, None)),
    ],
)  # fmt: skip
def test_standing(facts, now, expected):
    """Where it stands, and when to look again though nothing happens."""
    assert standing_of(worker(**facts), now, TEN) == expected


def test_a_probe_under_way_keeps_others_out():
    """A half-open breaker with its probe out admits nobody, and no time changes that."""
    breaker = opened(0)
    breaker.admit(30 * S)
    assert standing_of(worker(breaker=breaker), 30 * S, TEN) == (Standing.out, None)
