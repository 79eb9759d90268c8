"""Turns."""

from __future__ import annotations

from dataclasses import dataclass

from staticfire.router.policies import RoundRobin


@dataclass(frozen=True)
class Spot:
    id: str
    in_flight: int = 0


FLEET = [Spot("w00"), Spot("w01"), Spot("w02")]


def turns(policy, workers, n):
    return [policy.choose(workers, None, 0).id for _ in range(n)]


def test_in_turn():
    """Everybody has a turn in the order of ids, then the first again."""
    assert turns(RoundRobin(), FLEET, 5) == ["w00", "w01", "w02", "w00", "w01"]


def test_joining_and_resting_shift_nobody():
    """Who rests is passed over; who joins gets the turn of its place."""
    policy = RoundRobin()
    assert turns(policy, [FLEET[0], FLEET[2]], 3) == ["w00", "w02", "w00"]
    assert turns(policy, FLEET, 3) == ["w01", "w02", "w00"]
    assert turns(policy, FLEET[:1], 2) == ["w00", "w00"]


def test_more_than_a_hundred():
    """w99 stands before w100."""
    policy = RoundRobin()
    fleet = [Spot("w99"), Spot("w100"), Spot("w101")]
    assert turns(policy, fleet, 4) == ["w99", "w100", "w101", "w99"]
