"""The rules of readiness as functions of evidence and now."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from staticfire.clock import NS
from staticfire.readiness import Evidence, Record, Settings, Source, Status, Verdict, core

LISTING, SERVING, BUSY = Verdict.LISTING, Verdict.SERVING, Verdict.BUSY
BROKEN, WRONG, UNREACHABLE = Verdict.BROKEN, Verdict.MISCONFIGURED, Verdict.UNREACHABLE


def listed(record, at, models=("qwen",), model="qwen"):
    """A whole list that names the model."""
    named = model in models
    verdict = LISTING if named else WRONG
    evidence = Evidence(
        verdict, at * NS, record.generation, models=models, source=Source.LISTING, named=named,
        model=model,
    )  # fmt: skip
    return core.observe(record, evidence, at * NS)[0]


def list_fails(record, at, verdict=BROKEN, refused=False):
    """A list that did not come."""
    evidence = Evidence(
        verdict, at * NS, record.generation, source=Source.LISTING, refused=refused
    )  # fmt: skip
    return core.observe(record, evidence, at * NS)[0]


def chat(record, at, verdict, *, began=None, limits=core.DEFAULTS, **more):
    """A probe that began and ended."""
    start = (at if began is None else began) * NS
    record = core.begin(record, start, limits)
    evidence = Evidence(
        verdict, at * NS, record.generation, began=start, model="qwen", **more
    )  # fmt: skip
    return core.observe(record, evidence, at * NS, limits)[0]


def answered(record, at):
    """A user was answered."""
    return core.observe(record, core.answered(record, at * NS), at * NS)[0]


def restarted(record, at):
    """A new life began on purpose."""
    return core.observe(record, core.began(at * NS), at * NS)[0]


def due(record, at, limits=core.DEFAULTS):
    """Whether a probe may be sent."""
    return core.plan(record, at * NS, limits).probe


def ready(at=0):
    """A record that has just been proven."""
    return chat(listed(Record(), at), at, SERVING)


def test_a_new_record_is_starting():
    """Nothing is known: starting, not routable, and no probe before a listing."""
    record = Record()
    assert (record.status, record.routable, due(record, 0)) == (Status.STARTING, False, False)
    assert core.plan(record, 0).listing


def test_listed_is_running():
    """Listed and not proven is running, and a probe is due at once."""
    record = listed(Record(), 4)
    assert record.status is Status.RUNNING
    assert due(record, 4)
    assert not record.routable


def test_one_answer_makes_it_ready():
    """The first answered chat makes it ready, with the time of the evidence kept."""
    record = ready(7)
    assert record.status is Status.READY
    assert record.routable
    assert record.served_at == 7 * NS


def test_a_latch_wants_no_probe_while_fresh():
    """For 300 s since the last evidence no probe is wanted; then one is."""
    record = ready(0)
    assert not any(due(listed(record, at), at) for at in (0, 1, 150, 299))
    assert due(listed(record, 300), 300)


def test_a_latch_for_ever():
    """`latch_forever` wants no probe, however old the evidence is."""
    limits = Settings(latch_forever=True).limits
    assert not due(listed(ready(0), 100_000), 100_000, limits)


def test_a_latch_for_ever_still_probes_the_unproven():
    """`latch_forever` says nothing about a generation that has not served."""
    assert due(listed(Record(), 0), 0, Settings(latch_forever=True).limits)


@pytest.mark.parametrize("verdict", [LISTING, BROKEN, WRONG])
def test_a_failed_probe_is_throttled_from_its_start(verdict):
    """The next probe comes 15 s after the start of the one that failed, not after its end."""
    record = chat(listed(Record(), 0), 8, verdict, began=0)
    assert not due(record, 14)
    assert due(record, 15)


def test_an_attempt_closes_the_window_before_it_is_sent():
    """A prober that dies in mid-probe leaves a record that holds the next one off."""
    record = core.begin(listed(Record(), 0), 0)
    assert not due(record, 2)
    assert due(record, 15)


def test_a_long_probe_is_alone():
    """With a deadline over the throttle the window stays closed for the whole of the deadline."""
    limits = Settings(probe_deadline=60.0).limits
    record = core.begin(listed(Record(), 0), 0, limits)
    assert not due(record, 59, limits)
    assert due(record, 60, limits)


def test_busy_is_asked_again_at_the_interval():
    """A busy answer is retried at the caller's interval, not at the throttle."""
    record = chat(listed(Record(), 0), 0, BUSY)
    assert record.next_probe == 1 * NS
    slow = Settings(interval=15.0).limits
    assert chat(listed(Record(), 0), 0, BUSY, limits=slow).next_probe == 15 * NS


def test_busy_is_asked_again_at_its_retry_after():
    """`Retry-After` moves the next probe, in both directions, up to a cap."""
    record = chat(listed(Record(), 0), 2, BUSY, retry_after=30 * NS)
    assert (due(record, 31), due(record, 32)) == (False, True)
    long = chat(listed(Record(), 0), 0, BUSY, retry_after=86_400 * NS)
    assert long.next_probe == 300 * NS


def test_busy_never_makes_a_latch():
    """A busy answer is no proof."""
    record = chat(listed(Record(), 0), 0, BUSY)
    assert record.status is Status.RUNNING
    assert not record.latched


def test_busy_keeps_a_latch():
    """A ready engine that is busy for an hour stays ready."""
    record = ready(0)
    for at in range(300, 3900, 60):
        record = chat(listed(record, at), at, BUSY)
        assert record.status is Status.READY
        assert record.routable


def test_a_busy_list_removes_nobody():
    """A 503 to the list is no failed listing, however often it comes."""
    record = ready(0)
    for at in range(1, 10):
        record = list_fails(record, at, BUSY)
    assert record.status is Status.READY
    assert record.routable


def test_a_busy_list_breaks_a_row_of_failed_ones():
    """Failed, busy, failed are no two failures in a row."""
    record = list_fails(list_fails(list_fails(ready(0), 1), 2, BUSY), 3)
    assert record.routable


def test_a_refused_port_is_no_attempt():
    """After a refused probe the next may be sent as soon as it lists again."""
    record = listed(Record(), 0)
    record = core.begin(record, 0)
    refused = Evidence(UNREACHABLE, 0, record.generation, refused=True)
    record, _ = core.observe(record, refused, 0)
    assert record.attempt_at is None
    assert due(listed(record, 1), 1)


def test_a_refused_connect_starts_a_generation():
    """A restart is seen by its refused port: the latch is gone, the new life has to prove itself."""
    record = list_fails(ready(0), 10, UNREACHABLE, refused=True)
    assert record.generation == 2
    assert record.status is Status.STARTING
    record = listed(record, 20)
    assert record.status is Status.RUNNING
    assert not record.routable
    assert chat(record, 20, SERVING).routable


def test_a_port_that_is_not_bound_yet_stays_one_generation():
    """Refused connects before anything was reached are one life that is still starting."""
    record = Record()
    for at in range(100):
        record = list_fails(record, at, UNREACHABLE, refused=True)
    assert record.generation == 1
    assert record.status is Status.STARTING


def test_one_refused_connect_alone_takes_nobody_out():
    """A worker leaves after two failed listings in a row, refused ones too."""
    record = list_fails(ready(0), 10, UNREACHABLE, refused=True)
    assert record.routable
    assert not list_fails(record, 20, UNREACHABLE, refused=True).routable


def test_refused_traffic_starts_a_generation_once():
    """A hundred users who find the port refused see one life end, and no listing fail."""
    record = ready(0)
    for _ in range(100):
        record = core.observe(record, core.refused(record, 5 * NS), 5 * NS)[0]
    assert record.generation == 2
    assert record.failed_listings == 0
    assert record.routable
    assert not listed(record, 10).routable


@pytest.mark.parametrize("verdict", [BROKEN, UNREACHABLE, WRONG])
def test_two_failed_listings_in_a_row_take_it_out(verdict):
    """One slow list does not demote; two do; the next good one brings it back without a probe."""
    once = list_fails(ready(0), 10, verdict)
    assert (once.status, once.routable) == (Status.READY, True)
    twice = list_fails(once, 20, verdict)
    assert (twice.status, twice.routable) == (Status.DEGRADED, False)
    assert list_fails(listed(once, 15), 20, verdict).routable
    back = listed(twice, 30)
    assert (back.status, back.routable, due(back, 30)) == (Status.READY, True, False)


def test_a_model_that_is_gone_takes_it_out_at_once():
    """One whole list without the model ends the latch: another model was swapped in."""
    record = listed(ready(0), 10, models=("other",))
    assert not record.routable
    assert not record.latched
    assert record.models == ("other",)
    assert due(listed(record, 11), 11)


def test_another_first_model_has_to_prove_itself():
    """Where any model will do, the latch of the one that is gone is not the other's."""
    record = ready(0)
    record = listed(record, 10, models=("other",), model="other")
    assert record.status is Status.RUNNING
    assert due(record, 10)


def test_evidence_of_an_older_generation_counts_for_nothing():
    """A late pass of the life before changes nothing."""
    record = listed(Record(), 0)
    late = Evidence(SERVING, 5 * NS, record.generation, model="qwen")
    reborn = restarted(record, 3)
    assert core.observe(reborn, late, 5 * NS)[0] == reborn


def test_a_restart_clears_the_latch():
    """Ready, restarted, listed: running, not ready."""
    record = listed(restarted(ready(0), 1), 2)
    assert record.status is Status.RUNNING
    assert record.generation == 2


def test_answered_traffic_renews_the_latch():
    """A user's answer at 200 s makes the evidence fresh until 500 s."""
    record = answered(ready(0), 200)
    assert not due(listed(record, 499), 499)
    assert due(listed(record, 500), 500)


def test_answered_traffic_makes_no_latch():
    """A late answer of the life before is no proof of this one."""
    assert not answered(listed(Record(), 0), 1).latched


def test_one_blip_is_not_degraded():
    """One failed probe of a ready engine leaves it ready, to be asked again 15 s on."""
    record = chat(listed(ready(0), 300), 308, BROKEN, began=300)
    assert record.status is Status.READY
    assert not due(record, 314)
    assert due(record, 315)


def test_two_failed_probes_degrade():
    """Wedged after ready: it lists, its chat hangs twice, and it leaves the rotation."""
    record = chat(listed(ready(0), 300), 308, LISTING, began=300)
    record = chat(listed(record, 315), 323, LISTING, began=315)
    assert record.status is Status.DEGRADED
    assert not record.routable


def degraded():
    """A record that failed two probes, at 300 and 315."""
    record = chat(listed(ready(0), 300), 300, BROKEN)
    return chat(listed(record, 315), 315, BROKEN)


def test_a_degraded_engine_heals_after_two_passes():
    """One pass is not yet health, and the second may be asked for at once."""
    once = chat(degraded(), 330, SERVING)
    assert once.status is Status.DEGRADED
    assert due(once, 331)
    twice = chat(once, 331, SERVING)
    assert (twice.status, twice.routable) == (Status.READY, True)


def test_users_heal_a_degraded_engine():
    """Answered traffic counts as passes."""
    record = answered(answered(degraded(), 320), 321)
    assert record.status is Status.READY


def test_flapping_is_damped():
    """Twenty probes that pass and fail in turn make no transition at all."""
    record, seen = ready(0), []
    for i in range(20):
        record = chat(record, 300 + 15 * i, (BROKEN, SERVING)[i % 2])
        seen.append(record.status)
    assert set(seen) == {Status.READY}


def test_a_refusal_is_still_coming_up_until_it_held():
    """404 while warming up is running; after 15 s and two probes it is misconfigured."""
    record = chat(listed(Record(), 0), 0, WRONG)
    assert record.status is Status.RUNNING
    record = chat(listed(record, 14), 14, WRONG)
    assert record.status is Status.RUNNING
    record = chat(listed(record, 15), 15, WRONG)
    assert record.status is Status.MISCONFIGURED


def test_one_refusal_is_not_enough_however_old():
    """One probe and a long time are no two probes."""
    record = chat(listed(Record(), 0), 0, WRONG)
    assert listed(record, 100).status is Status.RUNNING


def test_a_refusal_ends_when_it_serves():
    """Misconfigured is no grave: an answer makes it ready."""
    record = chat(chat(listed(Record(), 0), 0, WRONG), 15, WRONG)
    assert chat(record, 30, SERVING).status is Status.READY


@pytest.mark.parametrize("between", [BUSY, BROKEN, LISTING])
def test_another_result_between_breaks_the_refusals(between):
    """A refusal, something else, a refusal: two first ones, not a held one."""
    record = chat(listed(Record(), 0), 0, WRONG)
    record = chat(record, 15, between)
    assert chat(record, 30, WRONG).status is Status.RUNNING


def test_the_reason_is_what_chat_said_last():
    """Between two probes the list says nothing new; the reason is still the chat's."""
    record = chat(listed(Record(), 0), 0, BROKEN, reason="chat answered 500")
    assert listed(record, 1).reason == "chat answered 500"
    assert list_fails(record, 1, UNREACHABLE, refused=True).reason != "chat answered 500"


def test_since_is_when_the_status_began():
    """A status that stays keeps its beginning."""
    record = listed(listed(Record(), 4), 9)
    assert record.since == 4 * NS
    assert chat(record, 10, SERVING).since == 10 * NS


def test_every_short_history_keeps_the_rules():
    """Over all histories of four steps: ready means proven in this life, routable was proven."""
    steps = {
        "list": listed,
        "other": lambda r, at: listed(r, at, models=("other",)),
        "list busy": lambda r, at: list_fails(r, at, BUSY),
        "list hangs": lambda r, at: list_fails(r, at, BROKEN),
        "refused": lambda r, at: list_fails(r, at, UNREACHABLE, refused=True),
        "pass": lambda r, at: chat(r, at, SERVING) if r.named else r,
        "busy": lambda r, at: chat(r, at, BUSY) if r.named else r,
        "hang": lambda r, at: chat(r, at, LISTING) if r.named else r,
        "restart": lambda r, at: restarted(r, at),
    }
    for history in itertools.product(steps, repeat=4):
        record, served, ever = Record(), None, False
        for at, name in enumerate(history):
            probes = name in ("pass", "busy", "hang") and record.named
            before = record
            record = steps[name](record, at)
            if name == "pass" and probes:
                served, ever = record.generation, True
            assert record.generation >= before.generation, history
            if record.ready:
                assert served == record.generation, history
            if record.routable:
                assert ever, history
                assert record.failed_listings < 2, history
            if name in ("list", "other"):
                assert record.routable == record.ready, history


def test_settings_become_limits_once():
    """The cores reckon in nanoseconds; the settings are seconds."""
    limits = Settings(throttle=2.5).limits
    assert limits.throttle == 2_500_000_000
    assert replace(limits, throttle=15 * NS) == core.DEFAULTS
