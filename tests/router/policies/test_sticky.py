"""Sessions that stay."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from staticfire.router.policies import Sticky


@dataclass(frozen=True)
class Spot:
    id: str
    in_flight: int = 0


def fleet(n):
    return [Spot(f"w{i:02}") for i in range(n)]


def homes(policy, workers, sessions, now=0):
    return {s: policy.choose(workers, s, now).id for s in sessions}


def test_a_session_stays():
    """Every request of a session goes to the worker of its first."""
    policy, workers = Sticky(100), fleet(4)
    first = homes(policy, workers, "abcdef")
    for _ in range(5):
        assert homes(policy, workers, "fdbace") == first


def test_fewest_sessions_first():
    """335 sessions over two workers are 168 and 167; over sixteen 20 or 21 each."""
    for n, expected in ((2, {167, 168}), (16, {20, 21})):
        counts = Counter(homes(Sticky(100), fleet(n), map(str, range(335))).values())
        assert set(counts.values()) == expected
        assert len(counts) == n


def test_late_joiners_get_the_new_sessions():
    """New sessions go to whoever joined late, until it has caught up; nobody is moved."""
    policy, workers = Sticky(100), fleet(4)
    before = homes(policy, workers[:2], map(str, range(10)))
    after = homes(policy, workers, map(str, range(10, 20)))
    assert Counter(after.values()) == {"w02": 5, "w03": 5}
    assert homes(policy, workers, map(str, range(10))) == before


def test_a_session_moves_only_when_it_must():
    """A worker that cannot be asked loses the sessions that ask meanwhile, and only those."""
    policy, workers = Sticky(100), fleet(2)
    before = homes(policy, workers, "abcd")
    moved = policy.choose(workers[1:], "a", 0).id
    assert (before["a"], moved) == ("w00", "w01")
    assert homes(policy, workers, "abcd") == {**before, "a": "w01"}
    assert policy.sessions() == {"w00": 1, "w01": 3}


def test_idle_sessions_are_forgotten():
    """A session that idled too long counts no more; one that asked in time does."""
    policy, workers = Sticky(100), fleet(2)
    homes(policy, workers, "abcd")
    policy.choose(workers, "b", 60)
    policy.choose(workers, "new", 120)
    assert sum(policy.sessions().values()) == 2


def test_no_session():
    """A request without a session goes where the fewest are in flight, in turn on a tie."""
    policy = Sticky(100)
    busy = [Spot("w00", 3), Spot("w01", 1), Spot("w02", 2)]
    assert policy.choose(busy, None, 0).id == "w01"
    assert {policy.choose(fleet(3), "", 0).id for _ in range(3)} == {"w00", "w01", "w02"}
    assert policy.sessions() == {}
