"""The promises of readiness can fail: each planted bug turns its scenario red, and is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planted import run_scenario
from staticfire import readiness
from staticfire.clock import NS
from staticfire.readiness import account, core, questions, signs
from staticfire.readiness.accept import answered
from staticfire.readiness.settings import Settings
from staticfire.readiness.table import Sign

pytestmark = pytest.mark.proof


def limits(**changed):
    """The defaults of every watch, changed."""
    honest = Settings.limits.fget

    def plant(monkeypatch):
        monkeypatch.setattr(
            Settings, "limits", property(lambda self: replace(honest(self), **changed))
        )

    return plant


def any_status_is_an_answer(monkeypatch):
    """Whatever is below 500 is a proof, as one product had it."""
    monkeypatch.setattr(questions.accept, "judge", lambda _, reply, asked: answered(reply, asked))


def a_listing_is_ready(monkeypatch):
    """Listed is taken for ready."""
    honest = signs._listing

    def listing(record, evidence, *rest):
        record, sign = honest(record, evidence, *rest)
        listed = sign in (Sign.LISTED, Sign.BACK)
        return (replace(record, served_at=0), Sign.PROVEN) if listed else (record, sign)

    monkeypatch.setattr(signs, "_listing", listing)


def every_probe_is_sent(monkeypatch):
    """The engine's own account counts for nothing."""
    monkeypatch.setattr(account.Load, "evidence", lambda *_: None)


def keys_are_told(monkeypatch):
    """Reasons are not looked through for keys."""
    monkeypatch.setattr(questions, "redacted", lambda text, _: text)


def late_passes_count(monkeypatch):
    """Evidence of an older generation counts."""
    monkeypatch.setattr(core, "began", lambda now, _=None: core.Process(core.Turn.PROGRESSED, now))


def one_after_the_other(monkeypatch):
    """Engines are checked in turn."""

    async def check_all(watches, *, within):
        return [await one.check() for one in watches]

    monkeypatch.setattr(readiness, "check_all", check_all)


@pytest.mark.parametrize(
    ("plant", "scenario", "words"),
    [
        (a_listing_is_ready, "listed-and-silent-is-not-ready", "expected the status running"),
        (a_listing_is_ready, "a-restart-clears-the-evidence", "expected the status running"),
        (any_status_is_an_answer, "a-refused-key-is-misconfigured", "it is serving"),
        (any_status_is_an_answer, "a-redirect-is-not-followed", "it is serving"),
        (any_status_is_an_answer, "a-web-page-is-no-answer", "it is serving"),
        (limits(degrade_after=1), "one-blip-is-not-degraded", "shown were running, ready, degr"),
        (limits(degrade_after=99), "wedged-after-ready-is-degraded", "the status degraded"),
        (limits(recover_after=1), "a-relapse-takes-longer-to-heal", "expected the changes"),
        (limits(leave_after=1), "one-list-that-hangs-does-not-demote", "expected the changes"),
        (limits(throttle=0), "listed-is-not-ready", "expected 15 s between probes"),
        (limits(latch_forever=False), "a-latch-for-ever-never-probes-again", "chat requests"),
        (limits(fresh_for=1), "a-pass-is-not-repeated", "the journal differs"),
        (limits(retry_after_at_most=0), "busy-is-asked-at-its-retry-after", "expected"),
        (
            limits(misconfigured_after=0, misconfigured_probes=1),
            "a-refused-key-is-misconfigured",
            "expected misconfigured at 15 s",
        ),
        (every_probe_is_sent, "a-probe-does-not-queue-before-users", "probes of engine"),
        (every_probe_is_sent, "a-pause-is-shown", "expected"),
        (keys_are_told, "a-key-is-sent-and-never-shown", "evidence without the key"),
        (late_passes_count, "a-restart-clears-the-evidence", "expected the status starting"),
        (limits(probe_budget=8 * NS), "slow-first-token-is-not-death", "expected ready at 20 s"),
        (one_after_the_other, "ten-warming-engines-cost-one-deadline", "the checks to take 8 s"),
    ],
)
def test_a_planted_bug_is_red(pytester, monkeypatch, plant, scenario, words):
    """And the message says which rule was broken."""
    plant(monkeypatch)
    failure = run_scenario(pytester, scenario).failure
    assert "BrokenPromise" in failure
    assert words in failure
