"""Tests of KV blocks: taking, sharing, giving back, forgetting."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from staticfire.engine.capacity_blocks import Blocks, keys_of


def test_equal_beginnings_share_their_blocks():
    """Two prompts with three equal blocks and one of their own each use five."""
    first, second = keys_of("aabbccdd", 2, 4), keys_of("aabbccxx", 2, 4)
    blocks = Blocks(10)
    blocks.take(first, 0)
    assert blocks.found(second) == 3
    assert blocks.need(second, 1) == 2
    blocks.take(second, 1)
    assert blocks.used == 6


def test_an_equal_block_after_another_beginning_is_another_block():
    """A key stands for everything from the prompt's start."""
    assert set(keys_of("aabb", 2, 2)).isdisjoint(keys_of("bbaa", 2, 2))


def test_only_full_blocks_have_keys():
    """The rest of a prompt is nobody else's."""
    assert len(keys_of("aabbc", 2, 9)) == 2
    assert keys_of("", 2, 3) == ()


def test_free_blocks_are_remembered_until_they_are_needed():
    """The longest unused prompt is forgotten first, and its end before its beginning."""
    old, young = keys_of("aabb", 2, 2), keys_of("ccdd", 2, 2)
    blocks = Blocks(4)
    for keys in (old, young):
        blocks.take(keys, 0)
        blocks.give_back(keys, 0)
    assert (blocks.used, blocks.remembered) == (0, 4)
    blocks.take((), 1)
    assert (blocks.found(old), blocks.found(young)) == (1, 2)
    blocks.take((), 1)
    assert (blocks.found(old), blocks.found(young)) == (0, 2)


@given(st.lists(st.tuples(st.text("ab", max_size=8), st.integers(0, 3)), max_size=20))
def test_what_is_taken_is_used_once_and_what_is_given_back_is_free(wanted):
    """Used blocks are the different ones among those held, whatever was taken and given back."""
    blocks, held = Blocks(12), []
    for text, plain in wanted:
        keys = keys_of(text, 2, 4)
        if blocks.need(keys, plain) <= blocks.free:
            blocks.take(keys, plain)
            held.append((keys, plain))
        elif held:
            blocks.give_back(*held.pop(0))
        distinct = Counter(key for keys, _ in held for key in keys)
        assert blocks.used == len(distinct) + sum(plain for _, plain in held)
        assert blocks.used + blocks.remembered <= blocks.total
        for keys, _ in held:
            assert blocks.found(keys) == len(keys)
    for keys, plain in held:
        blocks.give_back(keys, plain)
    assert blocks.used == 0
