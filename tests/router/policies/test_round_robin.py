"""One after another."""

from __future__ import annotations

import pytest

from policy_fleet import ASKED, enter, fleet
from staticfire.router.policies import RoundRobin


def turns(policy, n):
    return [policy.choose(ASKED, (), 0).id for _ in range(n)]


def test_everybody_has_a_turn():
    """Workers are chosen in the order of ids, round and round."""
    assert turns(enter(RoundRobin(), fleet(3)), 7) == ["w00", "w01", "w02"] * 2 + ["w00"]


def test_who_joins_or_rests_shifts_nobodys_turn():
    """After w01 comes w02, whoever stands before them now."""
    workers = fleet(4)
    policy = enter(RoundRobin(), workers[1:])
    assert turns(policy, 1) == ["w01"]
    policy.enter(workers[0])
    policy.leave(workers[2])
    assert turns(policy, 3) == ["w03", "w00", "w01"]


def test_order_is_by_place_not_by_text():
    """w99 stands before w100."""
    workers = fleet(101)
    policy = enter(RoundRobin(), [workers[100], workers[99]])
    assert turns(policy, 3) == ["w99", "w100", "w99"]


@pytest.mark.parametrize("tried", range(4))
def test_a_retry_goes_on_to_one_who_was_not_tried(tried):
    """Of four workers the first that was not tried has its turn; nobody when all were."""
    workers = fleet(4)
    policy = enter(RoundRobin(), workers)
    assert policy.choose(ASKED, set(workers[:tried]), 0) is workers[tried]
    assert policy.choose(ASKED, set(workers), 0) is None


def test_a_retry_takes_nobodys_turn():
    """Who sheds has its own turn only, and the others answer for it in turns of their own."""
    workers = fleet(3)
    policy = enter(RoundRobin(), workers)
    first, retried = [], []
    for _ in range(12):
        first.append(policy.choose(ASKED, (), 0).id)
        if first[-1] == "w00":
            retried.append(policy.choose(ASKED, {workers[0]}, 0).id)
    assert first == ["w00", "w01", "w02"] * 4
    assert retried == ["w01", "w02"] * 2
