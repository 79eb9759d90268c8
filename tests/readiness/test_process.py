"""What becomes of a service's process, and what may be restarted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from staticfire.clock import NS
from staticfire.readiness import (
    Evidence,
    Identity,
    Probe,
    Process,
    Record,
    Restart,
    Settings,
    Show,
    Source,
    Status,
    Turn,
    Verdict,
    core,
)

OURS, OTHER = Identity(41, 900, "a"), Identity(77, 950)
BUDGET = 600


def told(record, turn, at, **more):
    """News of the process."""
    return core.observe(record, Process(turn, at * NS, **more), at * NS)


def evidence(record, at, verdict=Verdict.LISTING, source=Source.LISTING, **more):
    """Evidence of one check."""
    named = {"named": True, "model": "qwen", "models": ("qwen",)} if not more else {}
    news = Evidence(verdict, at * NS, record.generation, source=source, **{**named, **more})
    return core.observe(record, news, at * NS)


def refused(record, at):
    """A listing that found the port refused."""
    return evidence(record, at, Verdict.UNREACHABLE, refused=True)


def begun(at=0):
    """A record of a process that has just begun."""
    return told(Record(), Turn.BEGAN, at, identity=OURS)[0]


def proven(at=1):
    """The same, listed and proven."""
    record = evidence(begun(), at)[0]
    return evidence(record, at, Verdict.SERVING, Source.CHAT)[0]


def test_a_new_life_is_a_new_generation_with_its_identity():
    """Nothing of the old life counts; the first life is generation 1."""
    assert (begun().generation, begun().identity) == (1, OURS)
    record = told(proven(), Turn.BEGAN, 5, identity=OTHER)[0]
    assert (record.generation, record.identity, record.status) == (2, OTHER, Status.STARTING)
    assert not record.latched


def test_a_port_that_is_not_bound_is_starting_for_the_whole_of_the_budget():
    """Refused for just under the budget: starting, and no restart is allowed."""
    record = begun()
    for at in range(0, BUDGET, 5):
        record, effects = refused(record, at)
        assert record.status is Status.STARTING
        assert effects == ()


def test_a_budget_used_up_before_the_first_listing_allows_a_restart():
    """It says so, once in words and as often as it is asked in effects."""
    record, effects = refused(begun(), BUDGET)
    reason = "start-up budget: neither a listing nor progress within 600 s"
    assert effects == (Show(Status.STARTING, Status.FAILED, reason), Restart(reason))
    assert refused(record, BUDGET + 5)[1] == (Restart(reason),)


def test_progress_extends_the_budget():
    """Log lines and downloads: the budget counts from the last of them."""
    record = told(begun(), Turn.PROGRESSED, 500)[0]
    assert refused(record, 1099)[0].status is Status.STARTING
    assert refused(record, 1100)[0].status is Status.FAILED


def test_the_budget_ends_at_the_first_listing():
    """Listed and silent for hours is running, whatever its port does after that."""
    record = evidence(begun(), 4)[0]
    for at in (1000, 5000):
        record, effects = evidence(record, at)
        assert record.status is Status.RUNNING
        assert not any(isinstance(effect, Restart) for effect in effects)
    record, effects = refused(record, 9000)
    assert (record.status, effects) == (
        Status.STARTING,
        (Show(Status.RUNNING, Status.STARTING, ""),),
    )


def test_an_engine_that_is_not_ours_has_no_budget():
    """A router's worker may stay away for ever."""
    record, effects = refused(Record(), 100 * BUDGET)
    assert (record.status, effects) == (Status.STARTING, ())


def test_one_that_comes_up_after_its_budget_is_not_failed_for_ever():
    """It lives and lists: running again, and the words of the budget are gone."""
    record = evidence(refused(begun(), BUDGET)[0], BUDGET + 60)[0]
    assert (record.status, record.told) == (Status.RUNNING, "")


@pytest.mark.parametrize("at", [0, 1, 400])
def test_a_dead_process_is_failed_and_may_be_restarted(at):
    """At once, with how it died."""
    record, effects = told(proven(), Turn.EXITED, 400 + at, reason="exit status 1")
    assert (record.status, record.latched, record.routable) == (Status.FAILED, False, False)
    assert effects == (
        Show(Status.READY, Status.FAILED, "exit status 1"),
        Restart("exit status 1"),
    )


def test_whoever_answers_on_the_port_of_a_dead_process_is_somebody_else():
    """No listing and no answer makes a dead service anything but failed."""
    record = told(proven(), Turn.EXITED, 5)[0]
    assert evidence(record, 6)[0] == record
    assert evidence(record, 6, Verdict.SERVING, Source.CHAT)[0] == record
    assert not core.plan(record, 1000 * NS).listing


@pytest.mark.parametrize("turn", [Turn.STOPPED, Turn.RESTARTING])
def test_a_late_pass_does_not_undo_a_stop(turn):
    """A probe that was under way answers after the stop: still stopped, still recovering."""
    record = told(proven(), turn, 5)[0]
    after = evidence(record, 6, Verdict.SERVING, Source.CHAT)[0]
    assert after.status in (Status.STOPPED, Status.RECOVERING)
    assert after == record
    assert not core.plan(record, 1000 * NS).probe


def test_an_exit_that_was_asked_for_is_no_failure():
    """Stopped stays stopped, recovering stays recovering, when the old process ends."""
    stopped, effects = told(told(proven(), Turn.STOPPED, 5)[0], Turn.EXITED, 6)
    assert (stopped.status, effects) == (Status.STOPPED, ())
    recovering = told(told(proven(), Turn.RESTARTING, 5)[0], Turn.EXITED, 6)[0]
    assert recovering.status is Status.RECOVERING
    assert told(recovering, Turn.BEGAN, 7, identity=OTHER)[0].status is Status.STARTING


def test_news_of_an_older_process_count_for_nothing():
    """The end of the old child, told late, does not fail the new one."""
    record = told(told(begun(), Turn.EXITED, 1)[0], Turn.BEGAN, 2, identity=OTHER)[0]
    assert told(record, Turn.EXITED, 3, generation=record.generation - 1)[0] == record


def test_a_foreign_process_on_the_port_is_told():
    """The same model from another pid, or a recycled one: not ready, and no restart."""
    for owner in (OTHER, replace(OURS, started=901), replace(OURS, nonce="b")):
        record, effects = evidence(
            begun(), 5, named=True, model="qwen", models=("qwen",), owner=owner
        )
        assert record.status is Status.MISCONFIGURED
        assert record.reason == f"not our process: pid {owner.pid} answers on the port"
        assert not any(isinstance(effect, Restart) for effect in effects)
        assert not core.plan(record, 5 * NS).probe


def test_our_own_process_on_the_port_ends_that():
    """The foreign one is gone, ours lists: running, to be proven."""
    record = evidence(begun(), 5, named=True, model="qwen", models=("qwen",), owner=OTHER)[0]
    record, effects = evidence(record, 9, named=True, model="qwen", models=("qwen",), owner=OURS)
    assert record.status is Status.RUNNING
    assert Probe(9 * NS) in effects


def test_each_change_is_shown_once():
    """A transition is an effect of the news that made it, of no other."""
    record, first = evidence(begun(), 4)
    assert first == (Show(Status.STARTING, Status.RUNNING, ""), Probe(4 * NS))
    assert evidence(record, 5)[1] == (Probe(5 * NS),)


def test_the_next_probe_is_an_effect():
    """Not due yet: with the time at which it is."""
    record = core.begin(evidence(begun(), 4)[0], 4 * NS)
    record, effects = evidence(record, 12, Verdict.LISTING, Source.CHAT, began=4 * NS, hung=True)
    assert effects == (Probe(19 * NS),)


def test_patience_grows_with_probes_that_hang():
    """8, 8, 16, 30 s for an engine that nobody has an account of; a reply of any kind resets it."""
    record, seen = evidence(begun(), 0)[0], []
    for at in range(0, 500, 100):
        seen.append(core.plan(record, at * NS).patience // NS)
        record = evidence(record, at, Verdict.LISTING, Source.CHAT, hung=True)[0]
    assert seen == [8, 8, 16, 30, 30]
    record = evidence(record, 900, Verdict.BROKEN, Source.CHAT, status=500)[0]
    assert core.plan(record, 1000 * NS).patience == 8 * NS


def test_a_pause_keeps_the_latch_and_is_shown():
    """Asleep after it served: degraded with that word, no failure counted, ready by one answer."""
    record, effects = evidence(
        proven(), 301, source=Source.ACCOUNT, paused="asleep", reason="asleep: it says so"
    )
    assert record.status is Status.DEGRADED
    assert effects[0] == Show(Status.READY, Status.DEGRADED, "asleep: it says so")
    assert not any(isinstance(effect, Restart) for effect in effects)
    assert (record.latched, record.fails) == (True, 0)
    record = evidence(record, 302)[0]
    assert record.reason == "asleep: it says so"
    assert core.plan(record, 302 * NS).look
    record = evidence(record, 302, Verdict.SERVING, Source.CHAT)[0]
    assert record.status is Status.READY


def test_a_pause_of_an_unproven_engine_is_still_coming_up():
    """An engine that was started asleep is running, never failed."""
    record = evidence(begun(), 0)[0]
    record = evidence(record, 1, Verdict.LISTING, Source.CHAT, paused="paused", hung=False)[0]
    assert record.status is Status.RUNNING
    assert core.plan(evidence(record, 2)[0], 2 * NS).probe


def test_a_relapse_takes_more_to_heal():
    """Failed again within 600 s of its recovery: twice as many answers, then four times."""
    record, at, needed = proven(), 300, []
    for _ in range(3):
        for _ in range(2):
            at += 15
            record = evidence(record, at, Verdict.BROKEN, Source.CHAT, status=500)[0]
        assert record.status is Status.DEGRADED
        passes = 0
        while record.status is Status.DEGRADED:
            at, passes = at + 1, passes + 1
            record = evidence(record, at, Verdict.SERVING, Source.CHAT)[0]
        needed.append(passes)
    assert needed == [2, 4, 8]


def test_a_misconfigured_service_has_to_prove_itself_again():
    """A key that was taken back ends the latch; a 503 after that is coming up, not ready."""
    record = proven()
    for at in (301, 316):
        record = evidence(
            record, at, Verdict.MISCONFIGURED, Source.CHAT, status=401, began=at * NS
        )[0]
    assert (record.status, record.latched) == (Status.MISCONFIGURED, False)
    assert not core.plan(evidence(record, 317)[0], 317 * NS).probe
    assert evidence(record, 331, Verdict.BUSY, Source.CHAT)[0].status is Status.RUNNING


def test_stretching_keeps_the_window_closed():
    """A probe that is waited for longer is still the only one."""
    record = core.begin(evidence(begun(), 0)[0], 0)
    record = core.stretched(record, 24 * NS)
    assert not core.plan(record, 23 * NS).probe
    assert core.plan(record, 24 * NS).probe


def test_evidence_moves_to_another_clock():
    """Times shift together, what is a span does not."""
    seen = Evidence(Verdict.BUSY, 10, 1, began=4, retry_after=7).moved(100)
    assert (seen.at, seen.began, seen.retry_after) == (110, 104, 7)


def test_the_budget_is_a_setting():
    """Seconds, converted once."""
    limits = Settings(startup_budget=5.0).limits
    news = Evidence(
        Verdict.UNREACHABLE, 5 * NS, 1, source=Source.LISTING, refused=True, reason="refused"
    )
    assert core.observe(begun(), news, 5 * NS, limits)[0].status is Status.FAILED
