"""The rules of death and restart, every combination of what they look at."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from staticfire.clock import NS, ns
from staticfire.errors import WrongInput
from staticfire.readiness import Status, core
from staticfire.readiness.evidence import Evidence, Process, Turn
from staticfire.readiness.verdict import Source, Verdict
from staticfire.services.decide import (
    MOVED,
    Decision,
    Do,
    Facts,
    begun,
    cannot_start,
    decide,
    gave_up,
    looked,
    rebooted,
    rested,
    settled,
    started,
    stopped,
)
from staticfire.services.service import Patience, Service

NOW = 1000 * NS
PATIENCE = Patience(restarts=3)
ALIVE, DEAD = Facts(alive=True), Facts(alive=False, death="exited with 1", exit=1)


def service(status: Status = Status.STARTING, **more) -> Service:
    """A service that was started at 1000 s and has a status."""
    made = Service("a", ("x",), "http://127.0.0.1:1", patience=PATIENCE, boot="b")
    made = started(begun(made, "n", NOW), 7, 70, NOW)
    return replace(made, readiness=replace(made.readiness, status=status), **more)


@pytest.mark.parametrize("status", Status)
def test_every_case(status):
    """All statuses, streaks, pauses and words of giving up: one decision each, as the table says."""
    pauses = (None, NOW - 1, NOW, NOW + 1)
    for streak, pause, given_up in itertools.product(range(6), pauses, ("", "why")):
        one = service(status, streak=streak, resting_until=pause, given_up=given_up)
        do = decide(one, NOW).do
        if status is Status.STOPPED or given_up:
            expected = Do.NOTHING
        elif status is Status.RECOVERING:
            expected = Do.NOTHING if pause == NOW + 1 else Do.START
        elif status is Status.FAILED:
            expected = Do.GIVE_UP if streak >= 3 else Do.REST
        else:
            expected = Do.NOTHING
        assert do is expected, (streak, pause, given_up)


def test_pauses_grow_up_to_a_bound():
    """1, 2, 4 seconds and so on, never more than the most, also after a million restarts."""
    pauses = [Patience(pause_at_most=60).pause(n) / NS for n in (0, 1, 2, 3, 5, 6, 1_000_000)]
    assert pauses == [1, 2, 4, 8, 32, 60, 60]
    assert decide(service(Status.FAILED, streak=2), NOW).at == NOW + 4 * NS


def test_a_crash_loop_ends():
    """A child that dies at once: as many restarts as allowed, then it is given up with why."""
    one, now, starts = service(), NOW, 0
    while True:
        one = looked(one, DEAD, now)
        decision = decide(one, now)
        if decision.do is Do.GIVE_UP:
            one = gave_up(one, decision, now)
            break
        assert decision.do is Do.REST
        assert decision.at is not None
        one = rested(one, decision, now)
        assert decide(one, decision.at - 1).do is Do.NOTHING
        now = decision.at
        assert decide(one, now).do is Do.START
        one = replace(one, streak=one.streak + 1)
        one = started(begun(one, f"n{starts}", now), 8 + starts, 80, now)
        starts += 1
    assert starts == 3
    assert (now - NOW) / NS == 1 + 2 + 4
    assert one.status is Status.FAILED
    assert one.given_up == ("exited with 1 after 0.0 s; given up: after 3 restarts in a row")
    assert one.readiness.reason == one.given_up
    assert decide(one, now + 10**15).do is Do.NOTHING


def heard(one: Service, verdict: Verdict, now: int, **more) -> Service:
    """The service after evidence."""
    limits = one.patience.settings().limits
    evidence = Evidence(verdict, now, one.readiness.generation, **more)
    record, _ = core.observe(one.readiness, evidence, now, limits)
    return replace(one, readiness=record)


def refused(one: Service, now: int) -> Service:
    return heard(one, Verdict.UNREACHABLE, now, source=Source.LISTING, refused=True)


def test_the_budget_ends_a_start_up_without_progress():
    """Nothing listed and nothing moved for 300 s: failed, with the reason."""
    one = service()
    before = refused(looked(one, ALIVE, NOW + ns(299.9)), NOW + ns(299.9))
    assert before.status is Status.STARTING
    after = refused(looked(before, ALIVE, NOW + ns(300)), NOW + ns(300))
    assert after.status is Status.FAILED
    assert "budget" in after.readiness.reason
    assert decide(after, NOW + ns(300)).do is Do.REST


def test_progress_extends_the_budget():
    """Each line in the log, each MiB moved, gives 300 s more."""
    one, now = service(), NOW
    for minute in range(1, 21):
        now = NOW + ns(60 * minute)
        one = refused(looked(one, Facts(alive=True, log=100 * minute), now), now)
        assert one.status is Status.STARTING
    for minute in range(21, 31):
        now = NOW + ns(60 * minute)
        facts = Facts(alive=True, log=2000, io=MOVED * minute)
        one = refused(looked(one, facts, now), now)
        assert one.status is Status.STARTING
    still = Facts(alive=True, log=2000, io=one.life.io + MOVED - 1)
    assert refused(looked(one, still, now + ns(299)), now + ns(299)).status is Status.STARTING
    assert refused(looked(one, still, now + ns(300)), now + ns(300)).status is Status.FAILED


def test_a_child_that_ended_is_no_progress():
    """Less input and output than before: a process of the group is gone, nothing moved."""
    one = looked(service(), Facts(alive=True, io=10 * MOVED), NOW + ns(100))
    fewer = looked(one, Facts(alive=True, io=MOVED), NOW + ns(200))
    assert fewer.readiness.began_at == NOW + ns(100)
    assert fewer.life.io == MOVED
    again = looked(fewer, Facts(alive=True, io=2 * MOVED), NOW + ns(250))
    assert again.readiness.began_at == NOW + ns(250)


def test_progress_has_an_end():
    """A log that grows for ever does not hold a start-up for ever."""
    one = replace(service(), patience=Patience(startup=300, startup_at_most=3600))
    now = NOW
    for minute in range(1, 80):
        now = NOW + ns(60 * minute)
        one = refused(looked(one, Facts(alive=True, log=minute), now), now)
        if one.status is Status.FAILED:
            break
    assert 3600 <= (now - NOW) / NS <= 3600 + 300


def test_a_listed_engine_is_only_restarted_when_it_dies():
    """No budget, no evidence restarts it after its first listing: 48 hours of anything."""
    one = heard(service(), Verdict.LISTING, NOW, source=Source.LISTING, named=True, model="m")
    assert one.status is Status.RUNNING
    for step, verdict in enumerate([*Verdict] * 8):
        for source in (Source.LISTING, Source.CHAT):
            now = NOW + ns(1800 * (step + 1))
            one = heard(looked(one, ALIVE, now), verdict, now, source=source, named=None)
            one = refused(one, now)
            assert one.status is not Status.FAILED
            assert decide(one, now).do is Do.NOTHING
    assert decide(looked(one, DEAD, now), now).do is Do.REST


def test_a_death_is_told_once():
    """The first look says how and when; later looks change nothing."""
    once = looked(service(), DEAD, NOW + ns(3))
    assert once.status is Status.FAILED
    assert once.readiness.reason == "exited with 1 after 3.0 s"
    assert (once.life.exit, once.life.died) == (1, NOW + ns(3))
    assert looked(once, Facts(alive=False, death="its process is gone"), NOW + ns(9)) is once


@pytest.mark.parametrize("status", [Status.STOPPED, Status.RECOVERING])
def test_a_death_on_purpose_is_no_failure(status):
    """What was stopped, or is being restarted, is expected to be dead."""
    one = service(status)
    assert looked(one, DEAD, NOW) is one


@pytest.mark.parametrize("how", ["restart", "stop", "death", "give up"])
def test_a_late_pass_of_an_old_life_changes_nothing(how):
    """A probe under way when its engine ends does not make anything ready."""
    one = service()
    late = Evidence(Verdict.SERVING, NOW, one.readiness.generation, model="m")
    after = {
        "restart": lambda: started(begun(one, "n2", NOW), 9, 90, NOW),
        "stop": lambda: stopped(one, NOW),
        "death": lambda: looked(one, DEAD, NOW),
        "give up": lambda: gave_up(one, Decision(Do.GIVE_UP, "enough"), NOW),
    }[how]()
    record, _ = core.observe(after.readiness, late, NOW + 1)
    assert record == after.readiness
    assert not record.ready


def test_a_new_life_knows_nothing_of_the_old():
    """Ready, then restarted: starting, with an identity and a number of its own."""
    ready = heard(service(), Verdict.SERVING, NOW, model="m")
    assert ready.status is Status.READY
    new = started(begun(ready, "n2", NOW), 9, 90, NOW)
    assert new.status is Status.STARTING
    assert not new.readiness.latched
    assert new.readiness.identity == new.life.identity
    assert (new.life.number, new.life.nonce) == (2, "n2")
    assert new.readiness.generation > ready.readiness.generation


def test_a_command_that_cannot_start_is_failed():
    """With the reason, and the next step of the supervisor's is a pause as after any death."""
    one = cannot_start(begun(service(), "n2", NOW), "there is no such command", NOW)
    assert one.status is Status.FAILED
    assert one.readiness.reason == "there is no such command"
    assert decide(one, NOW).do is Do.REST


def test_a_row_of_restarts_ends_when_a_life_lasts():
    """Ready for 600 s since its start: the next crash waits one second again. The count stays."""
    one = heard(replace(service(), streak=2, restarts=9), Verdict.SERVING, NOW, model="m")
    assert settled(one, NOW + ns(599)).streak == 2
    calm = settled(one, NOW + ns(600))
    assert (calm.streak, calm.restarts) == (0, 9)
    assert settled(replace(service(), streak=2), NOW + ns(900)).streak == 2


def test_no_restarts_means_none():
    """`--restarts 0`: a death is the end, and says so."""
    one = looked(replace(service(), patience=Patience(restarts=0)), DEAD, NOW)
    assert decide(one, NOW).why.endswith("given up: it is not to be restarted")


def test_a_reboot_ends_every_life_and_no_count():
    """Times of another run of the machine say nothing: dead, counts kept, due at once."""
    one = heard(replace(service(), restarts=3, streak=2), Verdict.SERVING, NOW, model="m")
    again = rebooted(one, "c", 5)
    assert again.status is Status.FAILED
    assert again.readiness.reason == "the machine was started again"
    assert (again.restarts, again.streak, again.boot) == (3, 2, "c")
    assert again.life.pid is None
    assert again.readiness.since == 5
    assert rebooted(again, "c", 9) is again
    resting = rested(looked(one, DEAD, NOW), Decision(Do.REST, "x", NOW + ns(60)), NOW)
    assert decide(rebooted(resting, "c", 5), 5).do is Do.START
    assert rebooted(stopped(one, NOW), "c", 5).status is Status.STOPPED


@pytest.mark.parametrize("field", ["startup", "grace", "first_pause", "probe_deadline"])
@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_impatience_is_refused(field, value):
    """Times are finite and not negative; the message names which."""
    with pytest.raises(WrongInput, match=field.replace("_", " ")):
        Patience(**{field: value})


def test_turns_are_the_cores_own_words():
    """What services tell the core: each turn is in its list."""
    record, _ = core.observe(service().readiness, Process(Turn.EXITED, NOW, reason="x"), NOW)
    assert record.exited
