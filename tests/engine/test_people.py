"""Tests of the people who ask."""

from __future__ import annotations

import random

from staticfire.engine.people import People


def test_a_crowd_comes_from_its_seed_alone():
    """One seed gives one crowd, whatever the global seed; sessions never repeat."""
    random.seed(1)
    first = People(7)
    names, prompt = first.sessions(335), first.prompt()
    random.seed(2)
    second = People(7)
    assert (second.sessions(335), second.prompt()) == (names, prompt)
    assert len(set(names)) == 335
    assert People(8).session() != names[0]
    assert first.messages()[0]["role"] == "user"
