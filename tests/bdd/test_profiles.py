"""Profiles and shards: which scenarios a run is about."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_bdd.feature import get_feature

from staticfire.bdd.collect import features_dir
from staticfire.bdd.lint import lint
from staticfire.bdd.profiles import PROFILES, parse_shard, shard
from staticfire.errors import WrongInput


def routed():
    """Tags of the packaged scenarios in which a router takes part, with their features."""
    for path in sorted(features_dir().glob("*.feature")):
        tags, _ = lint(path, get_feature(str(path.parent), path.name), (), {})
        yield from ((one, path.stem) for one in tags.values() if one.routed)


@pytest.mark.parametrize("name", PROFILES)
def test_every_profile_has_scenarios(name):
    """A name with nothing behind it would be a lie."""
    assert sum(PROFILES[name](tags, feature) for tags, feature in routed()) >= 3


def test_the_core_asks_for_nothing_that_a_plain_proxy_lacks():
    """No breaker, no sessions, no health checks, no models."""
    asked = {
        need for tags, feature in routed() if PROFILES["core"](tags, feature) for need in tags.needs
    }
    assert not asked & {"breaker", "sessions", "least-sessions", "health", "models"}


def test_shards_share_everything_and_nothing_twice():
    """Whatever the order in which a machine collects."""
    items = [f"s{number}" for number in range(10)]
    for of in (1, 3, 4):
        parts = [
            {items[place] for place in shard(items, str, (number, of))}
            for number in range(1, of + 1)
        ]
        assert sorted(one for part in parts for one in part) == sorted(items)
        backwards = items[::-1]
        again = {backwards[place] for place in shard(backwards, str, (1, of))}
        assert again == parts[0]


@pytest.mark.parametrize("text", ["0/2", "3/2", "2", "a/b", "1/2/3"])
def test_a_wrong_shard_says_what_is_expected(text):
    """I of N, from 1."""
    with pytest.raises(WrongInput, match="I/N with I from 1 to N"):
        parse_shard(text)


def test_a_scenario_is_routed_by_its_steps(tmp_path):
    """No tag says it, so none can be wrong."""
    path = Path(tmp_path / "f.feature")
    path.write_text(
        "Feature: f\n  @id:a\n  Scenario: a\n    Given the router in front of all engines\n"
        '  @id:b\n  Scenario: b\n    Given an engine "a" that serves\n'
    )
    tags, _ = lint(path, get_feature(str(tmp_path), path.name), (), {})
    assert {name: one.routed for name, one in tags.items()} == {"a": True, "b": False}
