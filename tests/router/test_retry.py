"""When a request is tried again: the pure rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from staticfire.clock import NS
from staticfire.router.outcome import Outcome
from staticfire.router.retry import Budget, Retries, RetrySettings, Tried, pause

REFUSED = Tried(Outcome.error, began=False)
SHED = Tried(Outcome.backpressure, began=False)
FAULT = Tried(Outcome.error, began=True)


@pytest.mark.parametrize(
    ("tried", "verdict", "with_begun"),
    [
        (REFUSED, "again", "again"),
        (SHED, "again", "again"),
        (FAULT, "began", "again"),
        (Tried(Outcome.success, began=True), "final", "final"),
        (Tried(Outcome.client_error, began=True), "final", "final"),
        (Tried(Outcome.cancelled, began=True), "final", "final"),
    ],
)
def test_what_may_be_tried_again(tried, verdict, with_begun):
    """Only what cannot have begun, unless a request may run twice; never what was answered."""
    assert Retries(RetrySettings()).told("a", tried, 0) == verdict
    assert Retries(RetrySettings(begun=True)).told("a", tried, 0) == with_begun


def test_tries_count_the_first_one():
    """Three tries are one request and two retries."""
    retries = Retries(RetrySettings(tries=3))
    assert [retries.told(worker, SHED, 0) for worker in "abc"] == ["again", "again", "tries"]
    assert retries.tried == {"a", "b", "c"}


def test_the_first_retry_goes_out_at_once_and_pauses_grow():
    """No pause, then 50, 75, 112.5 ms … up to the longest; half-way in the draw is no jitter."""
    settings = RetrySettings(longest=100_000_000)
    assert [pause(settings, n, 0.5) / 1e6 for n in (1, 2, 3, 4, 5)] == [0, 50, 75, 100, 100]
    assert pause(settings, 10_000, 0.5) == settings.longest


@given(
    st.integers(2, 50), st.floats(0, 1, exclude_max=True), st.floats(0, 1),
    st.integers(0, 10 * NS), st.floats(1, 10),
)  # fmt: skip
def test_jitter_stays_in_its_bounds(retry, draw, jitter, initial, multiplier):
    """A pause is off by the jitter's part at most, and never negative."""
    settings = RetrySettings(initial=initial, multiplier=multiplier, jitter=jitter)
    plain = pause(RetrySettings(initial=initial, multiplier=multiplier, jitter=0), retry, draw)
    assert pause(settings, retry, draw) >= 0
    assert abs(pause(settings, retry, draw) - plain) <= jitter * plain + 2


def test_a_zero_is_a_value():
    """A back-off of zero is none, not the default."""
    assert pause(RetrySettings(initial=0), 4, 0.9) == 0


def test_retry_after_is_honoured_under_the_cap():
    """Who shed is asked again when its Retry-After is over, never before; over the cap never."""
    retries = Retries(RetrySettings(cap=2 * NS))
    retries.told("a", Tried(Outcome.backpressure, False, 1 * NS), 0)
    retries.told("b", Tried(Outcome.backpressure, False, 60 * NS), 0)
    assert retries.soonest(NS // 4) == 3 * NS // 4
    retries.forgive(NS - 1)
    assert retries.tried == {"a", "b"}
    retries.forgive(NS)
    assert retries.tried == {"b"}
    assert retries.soonest(NS) is None


def test_without_retry_after_nobody_is_asked_twice():
    """A worker that shed without a Retry-After, or failed, is not asked again."""
    retries = Retries(RetrySettings())
    retries.told("a", SHED, 0)
    retries.told("b", REFUSED, 0)
    assert retries.soonest(0) is None
    retries.forgive(10**18)
    assert retries.tried == {"a", "b"}


def test_the_budget_is_a_share_with_a_floor():
    """Three retries at once always may; of a hundred requests twenty."""
    budget = Budget()
    assert [budget.take() for _ in range(4)] == [True, True, True, False]
    budget.live = 100
    assert [budget.take() for _ in range(18)] == [True] * 17 + [False]
    budget.give()
    assert budget.take()


EVENTS = st.lists(
    st.tuples(
        st.sampled_from("abcdef"),
        st.sampled_from(list(Outcome)),
        st.booleans(),
        st.none() | st.integers(0, 5 * NS),
        st.integers(0, 3 * NS),
    ),
    max_size=30,
)


@given(EVENTS, st.integers(1, 6), st.booleans(), st.integers(0, 4 * NS))
def test_no_history_breaks_the_rules(events, tries, begun, cap):
    """Never more tries than allowed, never a worker before its time, never after a final answer."""
    settings = RetrySettings(tries=tries, begun=begun, cap=cap)
    retries, now, made, free_at = Retries(settings), 0, 0, {}
    for worker, outcome, began, retry_after, later in events:
        now += later
        retries.forgive(now)
        if worker in retries.tried:
            assert free_at.get(worker) is None or free_at[worker] > now
            continue
        made += 1
        verdict = retries.told(worker, Tried(outcome, began, retry_after), now)
        shed = outcome is Outcome.backpressure and retry_after is not None
        free_at[worker] = now + retry_after if shed and verdict in ("again", "tries") else None
        assert worker in retries.tried
        assert made <= tries
        wait = retries.soonest(now)
        assert wait is None or 0 <= wait <= cap
        if verdict != "again":
            assert made == tries or outcome is not Outcome.backpressure
            return
        assert outcome is Outcome.backpressure or (
            outcome is Outcome.error and (begun or not began)
        )
