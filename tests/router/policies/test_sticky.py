"""Sessions that stay."""

from __future__ import annotations

from collections import Counter

import pytest

from policy_fleet import Ask, enter, fleet, give
from staticfire.router.policies import PolicySettings, Sticky


def sticky(workers, **settings):
    return enter(Sticky(PolicySettings(session_idle=100, **settings)), workers)


def homes(policy, sessions, now=0):
    return {session: policy.choose(Ask(session), (), now).id for session in sessions}


def test_a_session_stays():
    """Every request of a session goes to the worker of its first."""
    policy = sticky(fleet(4))
    first = homes(policy, "abcdef")
    for _ in range(5):
        assert homes(policy, "fdbace") == first
    assert policy.why == "home"


@pytest.mark.parametrize(("n", "expected"), [(2, {167, 168}), (16, {20, 21})])
def test_fewest_sessions_first(n, expected):
    """335 sessions over two workers are 168 and 167; over sixteen 20 or 21 each."""
    counts = Counter(homes(sticky(fleet(n)), map(str, range(335))).values())
    assert set(counts.values()) == expected
    assert len(counts) == n


def test_late_joiners_get_the_new_sessions():
    """New sessions go to whoever joined late, until it has caught up; nobody is moved."""
    workers = fleet(4)
    policy = sticky(workers[:2])
    before = homes(policy, map(str, range(10)))
    enter(policy, workers[2:])
    after = homes(policy, map(str, range(10, 20)))
    assert Counter(after.values()) == {"w02": 5, "w03": 5}
    assert homes(policy, map(str, range(10))) == before


def test_idle_sessions_move_to_late_joiners_where_asked():
    """With `rebalance_idle` a session that idled so long begins anew where there are fewest."""
    workers = fleet(2)
    policy = sticky(workers[:1], rebalance_idle=50)
    homes(policy, "abcdef")
    policy.enter(workers[1])
    assert set(homes(policy, "ab", now=49).values()) == {"w00"}
    assert homes(policy, "cdef", now=50) == {"c": "w01", "d": "w01", "e": "w01", "f": "w00"}
    assert policy.sessions() == {"w00": 3, "w01": 3}


def test_a_session_moves_only_when_it_must():
    """A worker that cannot be asked loses the sessions that ask meanwhile, and only those."""
    workers = fleet(2)
    policy = sticky(workers)
    before = homes(policy, "abcd")
    policy.leave(workers[0])
    moved = homes(policy, "a")["a"]
    assert (before["a"], moved, policy.why) == ("w00", "w01", "moved")
    policy.enter(workers[0])
    assert homes(policy, "abcd") == {**before, "a": "w01"}
    assert policy.sessions() == {"w00": 1, "w01": 3}


def test_a_retry_moves_the_session_too():
    """A session follows the retry: that worker has its cache now."""
    workers = fleet(2)
    policy = sticky(workers)
    policy.choose(Ask("a"), (), 0)
    assert policy.choose(Ask("a"), {workers[0]}, 0) is workers[1]
    assert homes(policy, "a") == {"a": "w01"}
    assert policy.choose(Ask("a"), set(workers), 0) is None


def test_idle_sessions_are_forgotten():
    """A session that idled too long counts no more; one that asked in time does."""
    policy = sticky(fleet(2))
    homes(policy, "abcd")
    homes(policy, "b", now=60)
    homes(policy, ["new"], now=120)
    assert sum(policy.sessions().values()) == 2


@pytest.mark.parametrize("session", [None, ""])
def test_no_session(session):
    """A request without a session goes where the least is under way, in turn on a tie."""
    policy = sticky(fleet(3, 3, 1, 2))
    assert policy.choose(Ask(session), (), 0).id == "w01"
    even = sticky(fleet(3))
    assert [give(even, Ask(session)).id for _ in range(4)] == ["w00", "w01", "w02", "w00"]
    assert even.sessions() == {}
