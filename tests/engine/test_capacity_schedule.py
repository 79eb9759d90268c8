"""Tests of the schedule: every short history, and long ones by chance."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from staticfire.engine.capacity import Capacity
from staticfire.engine.capacity_blocks import keys_of
from staticfire.engine.capacity_schedule import Schedule, Work


def check(schedule, works):
    """What holds at every moment."""
    capacity, running = schedule.capacity, list(schedule.running)
    assert len(running) <= capacity.slots
    assert set(running).isdisjoint(schedule.waiting)
    assert set(running) | set(schedule.waiting) == set(works)
    assert all(work.running for work in running)
    assert not any(work.running or work.ready or work.plain for work in schedule.waiting)
    assert running or not schedule.waiting, "somebody waits and nobody runs"
    assert schedule.prefilling == sum(work.fresh for work in running)
    blocks = schedule.blocks
    if blocks is not None:
        shared = {key for work in running for key in work.keys}
        assert blocks.used == len(shared) + sum(work.plain for work in running)
        assert 0 <= blocks.used <= blocks.total
        if len(running) > 1:
            for work in running:
                room = (len(work.keys) + work.plain) * capacity.block_size
                most = blocks.total * capacity.block_size
                assert room >= min(work.tokens, most), "fewer blocks than the tokens need"


def test_first_come_first_served():
    """With one slot three requests run in their order; nobody overtakes."""
    schedule = Schedule(Capacity(slots=1))
    works = [Work(1) for _ in range(3)]
    assert [schedule.arrive(work) for work in works] == [True, False, False]
    assert list(schedule.leave(works[0])) == [works[1]]
    assert list(schedule.leave(works[2])) == []
    assert list(schedule.leave(works[1])) == []


def test_a_small_request_does_not_overtake_a_big_one():
    """The head of the queue waits for its blocks, and everybody behind it too."""
    schedule = Schedule(Capacity(blocks=4, block_size=1))
    first, big, small = Work(3), Work(4), Work(1)
    assert [schedule.arrive(work) for work in (first, big, small)] == [True, False, False]
    assert list(schedule.leave(first)) == [big]
    assert list(schedule.leave(big)) == [small]


def test_the_youngest_loses_its_blocks_to_the_oldest():
    """It goes to the queue's head, before those who never ran, and keeps its tokens."""
    schedule = Schedule(Capacity(blocks=4, block_size=1))
    old, young, late = Work(2), Work(2), Work(1)
    for work in (old, young, late):
        schedule.arrive(work)
    for work in (old, young):
        schedule.prefilled(work)
    assert schedule.grow(old, 1)
    assert not young.running
    assert list(schedule.waiting) == [young, late]
    assert (schedule.preemptions, young.tokens, young.admissions) == (1, 2, 1)
    assert list(schedule.leave(old)) == [young, late]
    assert young.admissions == 2


def test_the_youngest_preempts_itself():
    """Without a block for its own next token it goes, with that token to be computed again."""
    schedule = Schedule(Capacity(blocks=4, block_size=1))
    old, young = Work(2), Work(2)
    for work in (old, young):
        schedule.arrive(work)
        schedule.prefilled(work)
    assert not schedule.grow(young, 1)
    assert (young.running, young.tokens) == (False, 3)
    assert list(schedule.leave(old)) == [young]
    assert young.fresh == 3


def test_a_request_alone_runs_even_if_the_blocks_do_not_suffice():
    """Longer than the whole cache, it still gets on, and gives back what it took."""
    schedule = Schedule(Capacity(blocks=2, block_size=2))
    work = Work(9, keys_of("a" * 9, 2, 4))
    assert schedule.arrive(work)
    schedule.prefilled(work)
    assert schedule.grow(work, 5)
    assert schedule.usage == 1.0
    schedule.leave(work)
    assert schedule.usage == 0.0


def test_the_batch_limits_what_is_computed_side_by_side():
    """Two prompts of three tokens do not fit into five; the second begins when the first is done."""
    schedule = Schedule(Capacity(batch_tokens=5))
    first, second = Work(3), Work(3)
    assert schedule.arrive(first)
    assert not schedule.arrive(second)
    assert list(schedule.prefilled(first)) == [second]


def test_a_request_is_refused_only_if_it_would_have_to_wait():
    """A full queue does not matter while there is a slot."""
    schedule = Schedule(Capacity(slots=1, queue=0))
    assert schedule.refuses(Work(1)) is None
    schedule.arrive(Work(1))
    assert schedule.refuses(Work(1)) == "requests"


def steps(count):
    """Everything that can happen with so many requests, as (verb, request)."""
    verbs = ("arrive", "prefilled", "grow", "leave")
    return [(verb, number) for verb in verbs for number in range(count)]


@pytest.mark.parametrize("reuse", [False, True])
@pytest.mark.parametrize("batch", [None, 3])
def test_every_short_history_keeps_the_rules(reuse, batch):
    """All histories of four steps with three requests on four blocks and two slots, and two more."""
    capacity = Capacity(slots=2, blocks=4, block_size=2, batch_tokens=batch, reuse=reuse)
    texts = ("aabb", "aab", "aabbcc")
    seen = 0
    for history in itertools.product(steps(3), repeat=4):
        schedule = Schedule(capacity)
        works = [Work(len(t), keys_of(t, 2, len(t) // 2) if reuse else ()) for t in texts]
        inside = []
        for verb, number in (*history, ("prefilled", 0), ("grow", 0)):
            work = works[number]
            if not step(schedule, inside, verb, work):
                break
            check(schedule, inside)
            seen += 1
    assert seen > 1000


def step(schedule, inside, verb, work):
    """Do it if it can be done; what is promised of the one step."""
    if verb == "arrive":
        if work in inside or work.admissions:
            return False
        inside.append(work)
        assert schedule.arrive(work) == work.running
    elif work not in inside:
        return False
    elif verb == "prefilled":
        if not work.running or work.ready:
            return False
        schedule.prefilled(work)
    elif verb == "grow":
        if not work.ready:
            return False
        oldest = next(iter(schedule.running))
        assert schedule.grow(work, 3) == work.running
        assert oldest.running, "the oldest request was preempted"
    else:
        head = next(iter(schedule.waiting), None)
        inside.remove(work)
        started = schedule.leave(work)
        assert all(each.running for each in started)
        if head is not None and head is not work and started:
            assert started[0] is head
    return True


class Histories(RuleBasedStateMachine):
    """Long histories on a small engine; the rules of `check` hold after every step."""

    def __init__(self):
        super().__init__()
        self.schedule = Schedule(Capacity(slots=4, blocks=9, block_size=2, batch_tokens=12))
        self.works = []

    @rule(text=st.text("ab", min_size=1, max_size=9))
    def arrive(self, text):
        work = Work(len(text), keys_of(text, 2, len(text) // 2))
        self.works.append(work)
        self.schedule.arrive(work)

    @precondition(lambda self: any(w.running and not w.ready for w in self.works))
    @rule(data=st.data())
    def prefilled(self, data):
        works = [work for work in self.works if work.running and not work.ready]
        self.schedule.prefilled(data.draw(st.sampled_from(works)))

    @precondition(lambda self: any(w.ready for w in self.works))
    @rule(data=st.data(), tokens=st.integers(1, 5))
    def grow(self, data, tokens):
        works = [work for work in self.works if work.ready]
        work = data.draw(st.sampled_from(works))
        assert self.schedule.grow(work, tokens) == work.running

    @precondition(lambda self: self.works)
    @rule(data=st.data())
    def leave(self, data):
        work = data.draw(st.sampled_from(self.works))
        self.works.remove(work)
        self.schedule.leave(work)

    @invariant()
    def rules(self):
        check(self.schedule, self.works)

    def teardown(self):
        for _ in range(200):
            if not self.works:
                break
            work = next(iter(self.schedule.running))
            self.works.remove(work)
            self.schedule.leave(work)
        assert not self.works, "somebody waits for ever"
        assert self.schedule.usage == 0.0


Histories.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestLongHistories = Histories.TestCase
"""Requests come, grow and go at random; every one of them ends."""
