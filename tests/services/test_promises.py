"""The promises of services can fail: each planted bug turns its scenario red, and is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planted import run_scenario
from staticfire.clock import ns
from staticfire.clock.virtual import VirtualClock
from staticfire.readiness import signs
from staticfire.services import check, store

pytestmark = pytest.mark.proof


def late_evidence_counts(monkeypatch):
    """Whatever is written is about the life that there is now."""
    honest = signs.read

    def read(record, news, now, limits):
        if not isinstance(news, signs.Process):
            news = replace(news, generation=record.generation)
        return honest(record, news, now, limits)

    monkeypatch.setattr(check, "same_life", lambda one, other: True)
    monkeypatch.setattr(signs, "read", read)


def the_wall_throttles(monkeypatch):
    """Times are kept by the clock that people set."""
    monkeypatch.setattr(VirtualClock, "boot", lambda self: ns(self.wall()))


def only_what_is_known_is_written(monkeypatch):
    """A record is written anew, without what a newer program had put there."""
    honest = store.freeze
    monkeypatch.setattr(store, "freeze", lambda service, under: honest(service))


@pytest.mark.parametrize(
    ("plant", "scenario", "words"),
    [
        (late_evidence_counts, "a-late-prober-of-a-life-before-is-not-heard", "to be starting"),
        (the_wall_throttles, "a-clock-set-back-throttles-nobody", "2 chat requests"),
        (only_what_is_known_is_written, "an-older-record-has-defaults", "expected the field"),
    ],
)
def test_a_planted_bug_is_red(pytester, monkeypatch, plant, scenario, words):
    """And the message says which rule was broken."""
    plant(monkeypatch)
    failure = run_scenario(pytester, scenario).failure
    assert "BrokenPromise" in failure
    assert words in failure
