"""The rules of readiness: evidence in, record out.

    (record, evidence, now) -> record        observe
    (record, now)           -> what to send  plan
    (record, now)           -> record        begin, renew, refused, restarted

No I/O, no clock: `now` is an argument, in nanoseconds. The rules, one place each:

- Serving evidence latches per generation. While it is fresh only listings are wanted, then one
  probe; `latch_forever` never wants one again.
- A failed probe is followed by the next no sooner than `throttle` after its own start. A busy
  answer is followed at `interval`, or at its `Retry-After`. A refused port is no attempt.
- A refused connect ends the generation. The worker stays in rotation until a second failed
  listing, or until the new life lists: that one has to prove itself.
- A refusal (401, 404, another model) is still coming up until it has held 15 s and two probes.
"""

from __future__ import annotations

from dataclasses import replace

from staticfire.readiness.evidence import Evidence
from staticfire.readiness.record import Plan, Record
from staticfire.readiness.settings import Limits, Settings
from staticfire.readiness.verdict import Source, Status, Verdict

__all__ = ["DEFAULTS", "begin", "observe", "plan", "refused", "renew", "restarted"]

DEFAULTS: Limits = Settings().limits


def observe(record: Record, evidence: Evidence, now: int, limits: Limits = DEFAULTS) -> Record:
    """The record after one piece of evidence. Evidence of another generation changes nothing."""
    if evidence.generation != record.generation:
        return record
    if evidence.refused:
        return _settled(_refused(record, evidence), now, limits)
    record = _refusals(replace(record, evidence=evidence), evidence, now, limits)
    if evidence.source is Source.LISTING:
        record = _after_listing(record, evidence)
    elif evidence.source is Source.CHAT:
        record = _after_chat(record, evidence, limits)
    return _settled(record, now, limits)


def plan(record: Record, now: int, limits: Limits = DEFAULTS) -> Plan:
    """What may be sent now."""
    if record.served_at is not None and not record.degraded:
        if limits.latch_forever:
            return Plan(probe=False, why="it has served; the latch is for ever")
        stale_at = record.served_at + limits.fresh_for
        if now < stale_at:
            return Plan(probe=False, why="it has served; the evidence is fresh", at=stale_at)
    if not record.named:
        return Plan(probe=False, why="the model is not listed")
    if record.next_probe is not None and now < record.next_probe:
        return Plan(probe=False, why="the last probe is too recent", at=record.next_probe)
    return Plan(probe=True, why="a probe is due", at=now)


def begin(record: Record, now: int, limits: Limits = DEFAULTS) -> Record:
    """The record to keep before a probe is sent.

    It closes the window for every other prober, also when this one dies halfway.
    """
    closed = max(limits.throttle, limits.probe_deadline)
    return replace(record, attempt_at=now, next_probe=now + closed)


def renew(record: Record, now: int, limits: Limits = DEFAULTS) -> Record:
    """A user's request was answered at `now`: the latch is renewed without a probe.

    It never makes a latch: an answer may be a late one of an earlier life.
    """
    if record.served_at is None:
        return record
    record = replace(record, served_at=max(record.served_at, now))
    return _settled(_passed(record, limits), now, limits)


def refused(record: Record, now: int, limits: Limits = DEFAULTS) -> Record:
    """A user's request found the port refused: this life is over. It is no failed listing."""
    evidence = Evidence(
        Verdict.UNREACHABLE,
        now,
        record.generation,
        "connection refused",
        source=Source.TRAFFIC,
        refused=True,
    )
    return observe(record, evidence, now, limits)


def restarted(record: Record, now: int) -> Record:
    """A new life begins on purpose: nothing that was known of the old one counts."""
    return Record(generation=record.generation + 1, since=now, models=record.models)


# -- one rule each


def _refused(record: Record, evidence: Evidence) -> Record:
    ended = record.reached or record.latched
    generation = record.generation + 1 if ended else record.generation
    failed = record.failed_listings + (evidence.source is not Source.TRAFFIC)
    return Record(
        generation=generation,
        status=record.status,
        since=record.since,
        evidence=replace(evidence, generation=generation),
        models=record.models,
        routable=record.routable,
        failed_listings=failed,
    )


def _after_listing(record: Record, evidence: Evidence) -> Record:
    verdict = evidence.verdict
    if evidence.named is not None:
        record = replace(record, reached=True, models=evidence.models, failed_listings=0)
        mine = record.served_model
        gone = evidence.named is False or (mine is not None and evidence.model != mine)
        if gone:
            record = _unlatched(record)
        return replace(record, named=evidence.named, listed=record.listed or evidence.named)
    if verdict is Verdict.BUSY:
        return replace(record, reached=True, named=False, failed_listings=0)
    return replace(
        record,
        reached=record.reached or verdict is not Verdict.UNREACHABLE,
        named=False,
        failed_listings=record.failed_listings + 1,
    )


def _after_chat(record: Record, evidence: Evidence, limits: Limits) -> Record:
    verdict = evidence.verdict
    record = replace(record, chat=evidence)
    if verdict is Verdict.SERVING:
        record = replace(
            record,
            reached=True,
            served_at=evidence.at,
            served_model=evidence.model,
            next_probe=None,
        )
        return _passed(record, limits)
    if verdict is Verdict.BUSY:
        pause = limits.interval
        if evidence.retry_after is not None:
            pause = min(evidence.retry_after, limits.retry_after_at_most)
        return replace(record, reached=True, next_probe=evidence.at + pause)
    fails = record.fails + 1
    return replace(
        record,
        reached=record.reached or verdict is not Verdict.UNREACHABLE,
        passes=0,
        fails=fails,
        next_probe=evidence.started + limits.throttle,
        degraded=record.degraded or (record.latched and fails >= limits.degrade_after),
    )


def _passed(record: Record, limits: Limits) -> Record:
    passes = record.passes + 1
    healed = record.degraded and passes >= limits.recover_after
    return replace(
        record,
        passes=passes,
        fails=0,
        degraded=record.degraded and not healed,
        refusals=0,
        refusing_since=None,
        refusing_source=None,
        misconfigured=False,
    )


def _unlatched(record: Record) -> Record:
    return replace(
        record,
        served_at=None,
        served_model=None,
        chat=None,
        degraded=False,
        passes=0,
        fails=0,
        next_probe=None,
        routable=False,
    )


def _refusals(record: Record, evidence: Evidence, now: int, limits: Limits) -> Record:
    if evidence.verdict is not Verdict.MISCONFIGURED:
        if evidence.source is record.refusing_source:
            return replace(
                record,
                refusals=0,
                refusing_since=None,
                refusing_source=None,
                misconfigured=False,
            )
        return record
    same = evidence.source is record.refusing_source and record.refusing_since is not None
    since = record.refusing_since if same else evidence.started
    refusals = record.refusals + 1 if same else 1
    assert since is not None
    held = now - since >= limits.misconfigured_after and refusals >= limits.misconfigured_probes
    return replace(
        record,
        refusals=refusals,
        refusing_since=since,
        refusing_source=evidence.source,
        misconfigured=held,
    )


def _settled(record: Record, now: int, limits: Limits) -> Record:
    """The status and the place in rotation that follow from the rest."""
    left = record.failed_listings >= limits.leave_after
    if record.misconfigured:
        status = Status.MISCONFIGURED
    elif record.latched:
        status = Status.DEGRADED if record.degraded or left else Status.READY
    else:
        status = Status.RUNNING if record.listed else Status.STARTING
    if record.latched:
        routable = status is Status.READY
    else:  # a refused connect alone does not take it out; the next word of the new life does
        routable = record.routable and not record.reached and not left
    if status is record.status and routable is record.routable and record.since is not None:
        return record
    since = record.since if status is record.status and record.since is not None else now
    return replace(record, status=status, routable=routable, since=since)
