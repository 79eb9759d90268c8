"""The breaker, walked cell by cell."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from staticfire.router.breaker import TABLE, Breaker, BreakerSettings, State
from staticfire.router.outcome import Outcome

COOL = 30
SETTINGS = BreakerSettings(threshold=3, cool_down=COOL)


def fail(breaker, now=0, times=1):
    for _ in range(times):
        breaker.record(breaker.admit(now), Outcome.error, now)


def opened(now=0):
    """A breaker that opened at `now`: errors as long as it would admit."""
    breaker = Breaker(SETTINGS)
    while breaker.would_admit(now):
        fail(breaker, now)
    return breaker


def in_state(state):
    """A breaker in `state`, an older permit, the probe's permit where there is one."""
    breaker = Breaker(SETTINGS)
    old = breaker.admit(0)
    if state is State.closed:
        fail(breaker, times=2)
        return breaker, old, None
    while breaker.would_admit(0):
        fail(breaker)
    probe = breaker.admit(COOL) if state is State.half_open else None
    return breaker, old, probe


# DESIGN's table in its own words: state, outcome, own permit -> state after, and what else.
CELLS = {
    (State.closed, "success", False): (State.closed, "streak 0"),
    (State.closed, "client_error", False): (State.closed, "streak 0"),
    (State.closed, "error", False): (State.open, "opened now"),
    (State.closed, "backpressure", False): (State.closed, "streak kept"),
    (State.closed, "cancelled", False): (State.closed, "streak kept"),
    (State.open, "success", False): (State.open, "cool-down kept"),
    (State.open, "client_error", False): (State.open, "cool-down kept"),
    (State.open, "error", False): (State.open, "cool-down kept"),
    (State.open, "backpressure", False): (State.open, "cool-down kept"),
    (State.open, "cancelled", False): (State.open, "cool-down kept"),
    (State.half_open, "success", True): (State.closed, "streak 0"),
    (State.half_open, "success", False): (State.closed, "streak 0"),
    (State.half_open, "client_error", True): (State.closed, "streak 0"),
    (State.half_open, "client_error", False): (State.closed, "streak 0"),
    (State.half_open, "error", True): (State.open, "opened now"),
    (State.half_open, "error", False): (State.half_open, "slot kept"),
    (State.half_open, "backpressure", True): (State.closed, "streak 0"),
    (State.half_open, "backpressure", False): (State.closed, "streak 0"),
    (State.half_open, "cancelled", True): (State.half_open, "slot freed"),
    (State.half_open, "cancelled", False): (State.half_open, "slot kept"),
}
NOW = 45


@pytest.mark.parametrize(("cell", "expected"), CELLS.items(), ids=str)
def test_cell(cell, expected):
    """Each outcome does in each state what the table says."""
    state, name, own = cell
    breaker, old, probe = in_state(state)
    breaker.record(probe if own else old, Outcome[name], NOW)
    after, note = expected
    assert breaker.state is after
    if note == "streak 0":
        assert breaker.streak == 0
    elif note == "streak kept":
        assert breaker.streak == 2
    elif note == "cool-down kept":
        assert breaker.reopens_at() == COOL
    elif note == "opened now":
        assert breaker.reopens_at() == NOW + COOL
        assert not breaker.would_admit(NOW + COOL - 1)
        assert breaker.would_admit(NOW + COOL)
    else:
        assert breaker.would_admit(NOW) is (note == "slot freed")


def test_table_is_complete():
    """Every state, outcome and kind of permit has a cell."""
    assert set(TABLE) == {(s, o, own) for s in State for o in Outcome for own in (True, False)}


def test_errors_in_a_row_open():
    """The breaker opens at its threshold, and only there."""
    breaker = Breaker(SETTINGS)
    failed = 0
    while breaker.would_admit(0):
        fail(breaker)
        failed += 1
    assert failed == SETTINGS.threshold


def test_backpressure_between_errors_still_opens():
    """500, 500, 503, 500 opens at a threshold of three."""
    breaker = Breaker(SETTINGS)
    fail(breaker, times=2)
    breaker.record(breaker.admit(0), Outcome.backpressure, 0)
    fail(breaker)
    assert breaker.state is State.open


def test_backpressure_alone_never_opens():
    """A worker that sheds far past the threshold is never rested."""
    breaker = Breaker(SETTINGS)
    for now in range(1000):
        breaker.record(breaker.admit(now), Outcome.backpressure, now)
    assert breaker.state is State.closed


def test_exactly_one_probe():
    """After the cool-down one permit is given out, until its outcome is known."""
    breaker = opened()
    assert breaker.admit(COOL - 1) is None
    probe = breaker.admit(COOL)
    assert probe.probe
    assert breaker.admit(COOL) is None
    assert breaker.admit(COOL * 100) is None
    breaker.record(probe, Outcome.cancelled, COOL)
    assert breaker.admit(COOL).probe


def test_old_permit_cannot_free_a_newer_probe():
    """A probe that was given back twice, or late, does not let a second one in."""
    breaker = opened()
    first = breaker.admit(COOL)
    breaker.record(first, Outcome.error, COOL)
    second = breaker.admit(COOL * 2)
    breaker.record(first, Outcome.cancelled, COOL * 2)
    breaker.record(first, Outcome.error, COOL * 2)
    assert breaker.state is State.half_open
    assert breaker.admit(COOL * 2) is None
    breaker.record(second, Outcome.success, COOL * 2)
    assert breaker.state is State.closed


def test_error_storm_does_not_pin_it_open():
    """Errors of requests from before the opening do not move the cool-down."""
    breaker = Breaker(SETTINGS)
    late = [breaker.admit(0) for _ in range(50)]
    fail(breaker, times=3)
    for now, permit in enumerate(late):
        breaker.record(permit, Outcome.error, now)
    assert breaker.would_admit(COOL)


def test_would_admit_changes_nothing():
    """Asking whether it would admit does not claim the probe."""
    breaker = opened()
    for _ in range(10):
        assert breaker.would_admit(COOL)
        assert breaker.state is State.open
    assert breaker.admit(COOL).probe


def test_disabled_never_opens():
    """A breaker that is switched off admits always."""
    breaker = Breaker(BreakerSettings(threshold=1, enabled=False))
    fail(breaker, times=100)
    assert breaker.would_admit(0)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["admit", "record", "wait"]), st.integers(0, 40), st.sampled_from(Outcome)
    ),
    max_size=80,
)


@given(STEPS)
def test_any_sequence(steps):
    """Through any sequence: one probe at most, no leaked slot, no pinned breaker."""
    breaker, now, held = Breaker(SETTINGS), 0, []
    for what, number, outcome in steps:
        before = (breaker.state, breaker.streak, breaker.reopens_at())
        would = breaker.would_admit(now)
        assert (breaker.state, breaker.streak, breaker.reopens_at()) == before
        if what == "wait":
            now += number
        elif what == "admit":
            permit = breaker.admit(now)
            assert (permit is not None) is would
            if permit is not None:
                held.append(permit)
                assert permit.probe is (breaker.state is State.half_open)
        elif held:
            permit = held.pop(number % len(held))
            breaker.record(permit, outcome, now)
            if breaker.state is State.open and before[0] is not State.open:
                assert outcome is Outcome.error, "only an error opens"
            if breaker.state is State.closed:
                assert breaker.streak < SETTINGS.threshold
            if outcome in (Outcome.success, Outcome.backpressure):
                assert breaker.state is not State.half_open
        opens = breaker.reopens_at()
        assert opens is None or opens <= now + COOL
        probes = [permit for permit in held if permit == breaker._probe]
        assert len(probes) <= 1, "half-open holds two probes"
    # When everybody has come back, it lets a request in after at most one cool-down.
    for permit in held:
        breaker.record(permit, Outcome.cancelled, now)
    assert breaker.would_admit(now + COOL)
