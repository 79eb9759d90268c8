"""Ranks, against a plain minimum."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from policy_fleet import fleet
from staticfire.router.policies.ranks import Ranks

WORKERS = fleet(5)
MOVES = st.lists(st.tuples(st.sampled_from(WORKERS), st.none() | st.integers(0, 6)), max_size=60)


@given(MOVES, st.sets(st.sampled_from(WORKERS)))
def test_first_is_of_the_lowest_rank(moves, tried):
    """Whatever moves, the first is one of the lowest rank among those not tried."""
    ranks, plain = Ranks(), {}
    for worker, rank in moves:
        if rank is not None:
            ranks.put(worker, rank)
            plain[worker] = rank
        elif worker in plain:
            ranks.remove(worker)
            del plain[worker]
        assert ranks.lowest() == min(plain.values(), default=None)
    left = {worker: rank for worker, rank in plain.items() if worker not in tried}
    found = ranks.first(tried)
    assert (found is None) == (not left)
    assert not left or left[found] == min(left.values())


def test_ranks_that_nobody_has_are_dropped():
    """A load that went up and down leaves no trail."""
    ranks = Ranks()
    for rank in (*range(1000), 0):
        ranks.put(WORKERS[0], rank)
        assert ranks.lowest() == rank
    assert len(ranks._heap) <= 2
