"""The second signal, as a pure core."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from staticfire.router import wedged
from staticfire.router.wedged import Shedding, Sign

S = 1_000_000_000
AFTER = 60 * S


def shed_for(seconds, *, idle, start=0):
    """Sheds once a second from `start`; its account says `idle` beside each."""
    known = Shedding()
    for second in range(start, start + seconds + 1):
        known = wedged.account(wedged.shed(known, second * S), second * S, idle)
    return known


@pytest.mark.parametrize(
    ("seconds", "idle", "expected"),
    [
        (59, True, Sign.well),
        (60, True, Sign.wedged),
        (59, None, Sign.well),
        (60, None, Sign.suspect),
        (600, False, Sign.well),
    ],
)
def test_sixty_seconds_of_nothing_but_sheds(seconds, idle, expected):
    """Idle by its own account: wedged; without an account: suspect; at work: busy, however long."""
    assert wedged.sign(shed_for(seconds, idle=idle), AFTER) is expected


def test_work_starts_the_time_anew():
    """A worker that said that it works is stuck 60 s after that at the earliest."""
    known = shed_for(50, idle=True)
    known = wedged.account(known, 50 * S, idle=False)
    for second in (60, 109):
        known = wedged.account(wedged.shed(known, second * S), second * S, idle=True)
    assert wedged.sign(known, AFTER) is Sign.well
    assert wedged.sign(wedged.shed(known, 110 * S), AFTER) is Sign.wedged


def test_who_is_not_asked_is_not_stuck():
    """One shed and then an hour of silence prove nothing."""
    known = wedged.account(wedged.shed(Shedding(), 0), 3600 * S, idle=True)
    assert wedged.sign(known, AFTER) is Sign.well


def test_an_account_of_a_worker_that_sheds_nothing_changes_nothing():
    """Only who sheds is in question."""
    assert wedged.account(Shedding(), S, idle=False) == Shedding()


def test_the_later_wish_wins():
    """A longer Retry-After replaces a shorter one, and never the other way round (B017)."""
    known = wedged.shed(wedged.shed(Shedding(), 0, 1 * S), 1, 60 * S)
    assert known.until == 60 * S + 1
    assert wedged.shed(known, 2, 1 * S).until == known.until


@pytest.mark.parametrize(
    ("sheds", "later", "expected"),
    [(0, 0, 0), (1, 0, 2), (3, 0, 8), (9, 0, 64), (1000, 0, 64), (3, S - 1, 8), (3, S, 4),
     (3, 3 * S, 1), (3, 4 * S, 0), (9, 10**6 * S, 0)],
)  # fmt: skip
def test_penalty(sheds, later, expected):
    """Each shed in a row doubles it, up to 64; each second of quiet halves it."""
    known = Shedding()
    for _ in range(sheds):
        known = wedged.shed(known, 0)
    assert wedged.penalty(known, later) == expected


EVENTS = st.lists(
    st.tuples(st.sampled_from(["shed", "idle", "busy", "mute", "answer"]), st.integers(1, 90)),
    max_size=40,
)


@given(EVENTS)
def test_never_stuck_within_the_time_of_an_answer_or_of_work(events):
    """Whatever happens: stuck takes 60 s after the last answer and the last account of work."""
    known, now, good = Shedding(), 0, 0
    for what, pause in events:
        now += pause * S
        if what == "shed":
            known = wedged.shed(known, now)
        elif what == "answer":
            known, good = Shedding(), now
        else:
            known = wedged.account(known, now, {"idle": True, "busy": False, "mute": None}[what])
            good = now if what == "busy" else good
        if now - good < AFTER:
            assert wedged.sign(known, AFTER) is Sign.well


def test_a_penalty_eases_every_second():
    """When to look again: each full second after the last shed, until nothing is left."""
    known = wedged.shed(wedged.shed(Shedding(), 0), S // 2)
    times, at = [], S // 2
    while at is not None:
        times.append((at, wedged.penalty(known, at)))
        at = wedged.eases_at(known, at)
    assert times == [(S // 2, 4), (3 * S // 2, 2), (5 * S // 2, 1), (7 * S // 2, 0)]
