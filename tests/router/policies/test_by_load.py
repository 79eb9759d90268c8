"""Policies that go by load."""

from __future__ import annotations

from collections import Counter

import pytest

from policy_fleet import ASKED, enter, fleet, give, take
from staticfire.router.policies import LeastLoad, PolicySettings, PowerOfTwo, RandomChoice

SEEDED = PolicySettings(seed=1)


def test_least_load():
    """Who has the least under way is next, and his load counts at once."""
    policy = enter(LeastLoad(), fleet(3, 2, 0, 1))
    assert [give(policy).id for _ in range(4)] == ["w01", "w02", "w01", "w00"]


def test_equals_take_turns():
    """Requests one at a time go round, not to the first worker again and again."""
    policy = enter(LeastLoad(), fleet(3))
    chosen = []
    for _ in range(6):
        worker = give(policy)
        chosen.append(worker.id)
        take(policy, worker)
    assert chosen == ["w00", "w01", "w02"] * 2


def test_sixteen_at_once_over_four():
    """A burst before any answer is spread evenly (B059)."""
    policy = enter(LeastLoad(), fleet(4))
    assert set(Counter(give(policy).id for _ in range(16)).values()) == {4}


@pytest.mark.parametrize("make", [LeastLoad, PowerOfTwo, RandomChoice])
def test_who_rests_or_was_tried_is_not_chosen(make):
    """Only those who may be asked and were not tried; nobody when there is none."""
    workers = fleet(4)
    policy = enter(make(SEEDED), workers)
    policy.leave(workers[0])
    tried = set(workers[1:3])
    assert {policy.choose(ASKED, tried, 0) for _ in range(20)} == {workers[3]}
    assert policy.choose(ASKED, set(workers), 0) is None


def test_power_of_two_takes_the_less_loaded():
    """The busiest of three is never chosen, the others both are."""
    policy = enter(PowerOfTwo(SEEDED), fleet(3, 9, 1, 2))
    assert {policy.choose(ASKED, (), 0).id for _ in range(100)} == {"w01", "w02"}


def test_power_of_two_spreads_a_burst():
    """Of 80 held requests over four workers none has over twice the mean (B055)."""
    policy = enter(PowerOfTwo(SEEDED), fleet(4))
    assert max(Counter(give(policy).id for _ in range(80)).values()) < 40


@pytest.mark.parametrize("make", [PowerOfTwo, RandomChoice])
def test_one_worker_alone(make):
    """A fleet of one is a fleet."""
    workers = fleet(1)
    assert enter(make(SEEDED), workers).choose(ASKED, (), 0) is workers[0]


def test_random_leaves_nobody_out():
    """Each of ten workers gets its part of a thousand requests."""
    policy = enter(RandomChoice(SEEDED), fleet(10))
    counts = Counter(policy.choose(ASKED, (), 0).id for _ in range(1000))
    assert len(counts) == 10
    assert min(counts.values()) > 60


def test_chance_follows_the_seed():
    """The same seed, the same choices."""
    runs = [
        [policy.choose(ASKED, (), 0).id for _ in range(20)]
        for policy in (enter(RandomChoice(SEEDED), fleet(10)) for _ in range(2))
    ]
    assert runs[0] == runs[1]
