"""A worker that follows from the session's name."""

from __future__ import annotations

from collections import Counter

from policy_fleet import Ask, enter, fleet, give
from staticfire.router.policies import ConsistentHash, PolicySettings

SESSIONS = [f"s{number:03}" for number in range(200)]


def homes(policy, sessions=SESSIONS):
    return {session: policy.choose(Ask(session), (), 0) for session in sessions}


def hashed(workers, **settings):
    return enter(ConsistentHash(PolicySettings(seed=1, **settings)), workers)


def test_the_same_in_every_router():
    """Two routers that never met, with workers in another order, agree on every session."""
    workers = fleet(8)
    assert homes(hashed(workers)) == homes(hashed(workers[::-1]))


def test_everybody_has_a_share():
    """Of 200 sessions over four workers each gets at least half of its share."""
    counts = Counter(worker.id for worker in homes(hashed(fleet(4))).values())
    assert len(counts) == 4
    assert min(counts.values()) >= 25


def test_a_fifth_worker_moves_only_its_share():
    """When a worker joins, sessions move only to it, and about a fifth of them (B062)."""
    workers = fleet(5)
    policy = hashed(workers[:4])
    before = homes(policy)
    policy.enter(workers[4])
    after = homes(policy)
    moved = {session for session in SESSIONS if before[session] is not after[session]}
    assert {after[session] for session in moved} == {workers[4]}
    assert len(moved) <= 60


def test_a_session_comes_home():
    """While its worker rests a session is with another; then it is back (B010)."""
    workers = fleet(3)
    policy = hashed(workers)
    before = homes(policy)
    policy.leave(workers[1])
    away = homes(policy)
    assert workers[1] not in away.values()
    assert all(away[one] is home for one, home in before.items() if home is not workers[1])
    policy.enter(workers[1])
    assert homes(policy) == before


def test_who_is_gone_for_good_leaves_the_ring():
    """A worker that was removed has no points; one that comes later gets new ones."""
    workers = fleet(3)
    policy = hashed(workers)
    before = homes(policy)
    policy.leave(workers[1])
    policy.forget(workers[1])
    assert workers[1] not in homes(policy).values()
    assert len(policy._ring) == 200
    policy.enter(workers[1])
    assert homes(policy) == before


def test_the_load_of_a_home_is_bounded():
    """One session's burst goes to the next worker when its own has 1.25 times the mean."""
    workers = fleet(4)
    policy = hashed(workers)
    counts = Counter(give(policy, Ask("hot")).id for _ in range(40))
    assert max(counts.values()) <= 13
    assert policy.why == "over"


def test_a_tried_home_is_passed_over():
    """A retry goes to the next on the ring; nobody when all were tried."""
    workers = fleet(3)
    policy = hashed(workers)
    home = policy.choose(Ask("a"), (), 0)
    other = policy.choose(Ask("a"), {home}, 0)
    assert other is not home
    assert policy.why == "moved"
    assert policy.choose(Ask("a"), set(workers), 0) is None


def test_no_session_goes_by_load():
    """A request without a session goes to the less loaded of two."""
    policy = hashed(fleet(3, 9, 0, 0))
    assert {policy.choose(Ask(), (), 0).id for _ in range(50)} == {"w01", "w02"}
