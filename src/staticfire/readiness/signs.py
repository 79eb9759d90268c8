"""Counting: what a piece of news amounts to, blips and flapping damped.

    read(record, news, now) -> (record with its counts, sign)

Everything that needs a count or a time is here, so that the table of transitions needs none.
"""

from __future__ import annotations

from dataclasses import replace

from staticfire.readiness.evidence import Evidence, News, Process, Turn
from staticfire.readiness.record import Record
from staticfire.readiness.settings import Limits
from staticfire.readiness.table import Sign
from staticfire.readiness.verdict import Source, Status, Verdict

__all__ = ["overdue", "read"]

DEAF = frozenset((Status.STOPPED, Status.RECOVERING))
"""Statuses in which only the process has a say."""

RELAPSES = 3
"""Doublings of what a relapsed engine has to show."""


def read(record: Record, news: News, now: int, limits: Limits) -> tuple[Record, Sign]:
    """The record with `news` counted in, and the sign. The status is not touched."""
    if isinstance(news, Process):
        return _process(record, news, now)
    if news.generation != record.generation or record.exited or record.status in DEAF:
        return record, Sign.NOTHING
    record, sign = _evidence(record, news, now, limits)
    if sign in _WAITS and overdue(record, now, limits):
        seconds = limits.startup_budget / 1e9
        told = f"start-up budget: neither a listing nor progress within {seconds:g} s"
        return replace(record, told=told), Sign.OVERDUE
    return (record if sign in _WAITS or not record.told else replace(record, told="")), sign


_WAITS = frozenset(
    (Sign.UNLISTED, Sign.BUSY, Sign.BLIP, Sign.FAILING, Sign.REFUSING, Sign.ENDED, Sign.NOTHING)
)


def overdue(record: Record, now: int, limits: Limits) -> bool:
    """Whether a process of ours used up its start-up budget before its first listing."""
    if record.identity is None or record.came_up or record.began_at is None:
        return False
    return now - record.began_at >= limits.startup_budget


# -- the process


def _process(record: Record, news: Process, now: int) -> tuple[Record, Sign]:
    if news.turn is Turn.BEGAN:
        new = record.identity is None and record.evidence is None and not record.exited
        born = Record(
            generation=record.generation + (not new),
            identity=news.identity,
            status=record.status,
            since=record.since,
            began_at=now,
            models=record.models,
        )
        return born, Sign.BEGAN
    if news.generation is not None and news.generation != record.generation:
        return record, Sign.NOTHING
    if news.turn is Turn.PROGRESSED:
        return replace(record, began_at=max(now, record.began_at or now)), Sign.NOTHING
    if news.turn is Turn.EXITED:
        told = news.reason or "its process is dead"
        known = record.told if record.status in DEAF else told
        return replace(_unlatched(record), named=False, exited=True, told=known), Sign.EXITED
    sign = Sign.STOPPED if news.turn is Turn.STOPPED else Sign.RESTARTING
    told = news.reason or ("stopped" if sign is Sign.STOPPED else "it is being restarted")
    return replace(_unlatched(record), named=False, told=told), sign


# -- evidence


def _evidence(record: Record, evidence: Evidence, now: int, limits: Limits) -> tuple[Record, Sign]:
    if evidence.source is Source.TRAFFIC and not evidence.refused:
        return _traffic(record, evidence, now, limits)
    if evidence.owner is not None and not evidence.owner.may_be(record.identity):
        return _foreign(record, evidence)
    if evidence.refused:
        return _ended(record, evidence, limits), Sign.ENDED
    was = record.refusing_source
    record, held = _refusals(record, evidence, now, limits)
    if evidence.source is Source.LISTING:
        record, sign = _listing(record, evidence, limits, was)
    elif evidence.source in (Source.CHAT, Source.ACCOUNT):
        record, sign = _chat(record, evidence, now, limits)
    else:
        return replace(record, evidence=evidence), Sign.NOTHING
    if held:  # the latch goes; what was said, and when to ask again, stays
        kept = replace(_unlatched(record), chat=record.chat, next_probe=record.next_probe)
        return kept, Sign.REFUSED
    return record, sign


def _traffic(record: Record, evidence: Evidence, now: int, limits: Limits) -> tuple[Record, Sign]:
    """An answered user renews a latch; it never makes one: it may be a late answer of a life
    before.
    """
    if record.served_at is None:
        return record, Sign.NOTHING
    record = replace(record, served_at=max(record.served_at, evidence.at), paused="", hangs=0)
    return _passed(record, now, limits)


def _foreign(record: Record, evidence: Evidence) -> tuple[Record, Sign]:
    assert evidence.owner is not None
    reason = f"not our process: pid {evidence.owner.pid} answers on the port"
    told = replace(evidence, verdict=Verdict.MISCONFIGURED, reason=reason, named=False)
    record = replace(
        _unlatched(record),
        evidence=told,
        named=False,
        refusing_source=evidence.source,
        refusing_since=evidence.started,
    )
    return record, Sign.REFUSED


def _ended(record: Record, evidence: Evidence, limits: Limits) -> Record:
    ended = record.reached or record.latched
    generation = record.generation + 1 if ended else record.generation
    failed = record.failed_listings + (evidence.source is not Source.TRAFFIC)
    return Record(
        generation=generation,
        identity=record.identity,
        status=record.status,
        since=record.since,
        began_at=record.began_at,
        came_up=record.came_up,
        told=record.told,
        evidence=replace(evidence, generation=generation),
        models=record.models,
        routable=record.routable,
        failed_listings=failed,
        left=failed >= limits.leave_after,
    )


def _listing(
    record: Record, evidence: Evidence, limits: Limits, refusing: Source | None
) -> tuple[Record, Sign]:
    if evidence.named is not None:
        only = record.left and not record.degraded and not record.paused
        back = only or (record.status is Status.MISCONFIGURED and refusing is Source.LISTING)
        named, mine = evidence.named, record.served_model
        record = replace(
            record,
            evidence=evidence,
            reached=True,
            models=evidence.models,
            failed_listings=0,
            left=False,
            named=named,
            listed=record.listed or named,
            came_up=record.came_up or named,
        )
        gone = not named or (mine is not None and evidence.model != mine)
        if gone:
            record = _unlatched(record)
        if not named:
            return record, Sign.UNLISTED
        if gone:
            return record, Sign.UNLISTED
        return record, Sign.BACK if back else Sign.LISTED
    other = record.status is Status.MISCONFIGURED and refusing is Source.CHAT
    if evidence.verdict is Verdict.BUSY:
        record = replace(record, evidence=evidence, reached=True, named=False, failed_listings=0)
        return record, Sign.NOTHING if other else Sign.BUSY
    failed = record.failed_listings + 1
    record = replace(
        record,
        evidence=evidence,
        reached=record.reached or evidence.verdict is not Verdict.UNREACHABLE,
        named=False,
        failed_listings=failed,
        left=failed >= limits.leave_after,
    )
    if other:
        return record, Sign.NOTHING
    if record.left:
        return record, Sign.FAILING
    refuses = evidence.verdict is Verdict.MISCONFIGURED
    return record, Sign.REFUSING if refuses else Sign.BLIP


def _chat(record: Record, evidence: Evidence, now: int, limits: Limits) -> tuple[Record, Sign]:
    verdict, reached = (
        evidence.verdict,
        record.reached or evidence.verdict is not Verdict.UNREACHABLE,
    )
    spoke = evidence.source is Source.CHAT or evidence.paused
    record = replace(
        record,
        evidence=evidence,
        chat=evidence if spoke else record.chat,
        reached=reached,
        paused=evidence.paused,
        tokens=record.tokens if evidence.tokens is None else evidence.tokens,
    )
    if evidence.paused:
        return replace(record, hangs=0, next_probe=evidence.at + limits.interval), Sign.PAUSED
    if verdict is Verdict.SERVING:
        record = replace(
            record,
            served_at=evidence.at,
            served_model=evidence.model,
            next_probe=None,
            hangs=0,
            came_up=True,
        )
        return _passed(record, now, limits)
    if verdict is Verdict.BUSY:
        pause = limits.interval
        if evidence.retry_after is not None:
            pause = min(evidence.retry_after, limits.retry_after_at_most)
        return replace(record, hangs=0, next_probe=evidence.at + pause), Sign.BUSY
    fails = record.fails + 1
    failing = record.latched and fails >= limits.degrade_after
    if failing and not record.degraded:
        soon = max(2 * limits.fresh_for, 4 * limits.throttle)  # the next evidence, and its retry
        again = record.recovered_at is not None and now - record.recovered_at <= soon
        record = replace(record, relapses=record.relapses + 1 if again else 0)
    record = replace(
        record,
        passes=0,
        fails=fails,
        hangs=record.hangs + 1 if evidence.hung else 0,
        next_probe=evidence.started + limits.throttle,
        degraded=record.degraded or failing,
    )
    if record.degraded:
        return record, Sign.FAILING
    return record, Sign.REFUSING if verdict is Verdict.MISCONFIGURED else Sign.BLIP


def _passed(record: Record, now: int, limits: Limits) -> tuple[Record, Sign]:
    """One answer more. A failed engine has to give several in a row, a relapsed one more."""
    passes = record.passes + 1
    record = replace(
        record, passes=passes, fails=0, refusals=0, refusing_since=None, refusing_source=None
    )
    needed = limits.recover_after << min(record.relapses, RELAPSES)
    if record.left or (record.degraded and passes < needed):
        return record, Sign.MENDING
    if record.degraded:
        record = replace(record, degraded=False, recovered_at=now)
    return record, Sign.PROVEN


def _unlatched(record: Record) -> Record:
    return replace(
        record,
        served_at=None,
        served_model=None,
        chat=None,
        degraded=False,
        paused="",
        passes=0,
        fails=0,
        hangs=0,
        next_probe=None,
        routable=False,
    )


def _refusals(record: Record, evidence: Evidence, now: int, limits: Limits) -> tuple[Record, bool]:
    """Refusals in a row from one source, and whether they have held long and often enough."""
    source = Source.CHAT if evidence.source is Source.ACCOUNT else evidence.source
    if evidence.verdict is not Verdict.MISCONFIGURED:
        if source is record.refusing_source:
            record = replace(record, refusals=0, refusing_since=None, refusing_source=None)
        return record, False
    same = source is record.refusing_source and record.refusing_since is not None
    since = record.refusing_since if same else evidence.started
    refusals = record.refusals + 1 if same else 1
    assert since is not None
    held = now - since >= limits.misconfigured_after and refusals >= limits.misconfigured_probes
    record = replace(record, refusals=refusals, refusing_since=since, refusing_source=source)
    return record, held
