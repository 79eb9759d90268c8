"""The nearest steps, by their words."""

from __future__ import annotations

import pytest

from staticfire.bdd.near import nearest_steps

KNOWN = {
    'an engine "{name}" that {life}': 'an engine "late" that refuses for 12 seconds',
    "{count:d} engines that serve": "3 engines that serve",
    "the router is ready": "the router is ready",
    "the router is ready within {seconds:g} seconds": "the router is ready within 5 seconds",
    "a {kind} request is sent": "a JSON request is sent",
    'a {kind} request is sent to engine "{name}"': 'a JSON request is sent to engine "a"',
    'the process of engine "{name}" dies': 'the process of engine "a" dies',
    "every request succeeds": "every request succeeds",
    "{seconds:g} seconds pass": "8 seconds pass",
}


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("the routre is ready", "the router is ready"),
        ('an engin "x" that serves', 'an engine "late" that refuses for 12 seconds'),
        ("I send a JSON request", "a JSON request is sent"),
        ("all requests succeed", "every request succeeds"),
        ('engine "a" dies', 'the process of engine "a" dies'),
        ("30 seconds passed", "8 seconds pass"),
        ("two engines that serve", "3 engines that serve"),
    ],
)
def test_the_nearest_is_found_by_its_words(text, first):
    """Order, spelling and values matter less than the words that few steps have."""
    assert nearest_steps(text, KNOWN)[0] == first


def test_at_most_three_are_named_and_only_the_near():
    """Somebody reads them."""
    near = nearest_steps("a request is sent", KNOWN)
    assert near == ["a JSON request is sent", 'a JSON request is sent to engine "a"']
    alike = {f"the router is {how}": f"the router is {how}" for how in ("up", "down", "ill", "ok")}
    assert len(nearest_steps("the router is", alike)) == 3


def test_what_is_like_nothing_has_no_nearest():
    """A guess would only mislead."""
    assert nearest_steps("frobnicate the zork", KNOWN) == []
    assert nearest_steps("anything", {}) == []
