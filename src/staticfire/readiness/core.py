"""The rules of readiness: news in, record and effects out.

    (record, news, now) -> (record, effects)   observe
    (record, now)       -> what to send        plan
    (record, now)       -> record              begin, stretched: before a request is sent

No I/O, no clock: `now` is an argument, in nanoseconds. `signs` counts, `table` decides:

- Serving evidence latches per generation. While it is fresh only listings are wanted, then one
  probe; `latch_forever` never wants one again.
- A failed probe is followed by the next no sooner than `throttle` after its own start. A busy
  answer is followed at `interval`, or at its `Retry-After`. A refused port is no attempt.
- A refused connect ends the generation. The worker stays in rotation until a second failed
  listing, or until the new life lists: that one has to prove itself.
- A refusal (401, 404, another model) is still coming up until it has held 15 s and two probes.
- Only a dead process, or a start-up budget used up before the first listing, allows a restart.
"""

from __future__ import annotations

from dataclasses import replace

from staticfire.readiness import signs, table
from staticfire.readiness.effects import Effect, Probe, Restart, Show
from staticfire.readiness.evidence import Evidence, Identity, News, Process, Turn
from staticfire.readiness.record import Plan, Record
from staticfire.readiness.settings import Limits, Settings
from staticfire.readiness.verdict import Source, Status, Verdict

__all__ = [
    "DEFAULTS",
    "answered",
    "began",
    "begin",
    "observe",
    "plan",
    "refused",
    "restarted",
    "stretched",
]

DEFAULTS: Limits = Settings().limits


def observe(
    record: Record, news: News, now: int, limits: Limits = DEFAULTS
) -> tuple[Record, tuple[Effect, ...]]:
    """The record after one piece of news, and what that asks for.

    Evidence of another generation, or of a process that is dead, stopped or being restarted,
    changes nothing.
    """
    counted, sign = signs.read(record, news, now, limits)
    if counted is record and sign is table.Sign.NOTHING:
        return record, _effects(record, record, now, limits)
    settled = _settled(record, counted, table.after(record.status, sign), now)
    return settled, _effects(record, settled, now, limits)


def plan(record: Record, now: int, limits: Limits = DEFAULTS) -> Plan:
    """What may be sent now."""
    if record.exited or record.status in signs.DEAF:
        return Plan(probe=False, why="its process is not running", listing=False)
    if record.served_at is not None and not record.degraded and not record.paused:
        if limits.latch_forever:
            return Plan(probe=False, why="it has served; the latch is for ever")
        stale_at = record.served_at + limits.fresh_for
        if now < stale_at:
            return Plan(probe=False, why="it has served; the evidence is fresh", at=stale_at)
    if not record.named:
        return Plan(probe=False, why="the model is not listed")
    if record.next_probe is not None and now < record.next_probe:
        return Plan(probe=False, why="the last probe is too recent", at=record.next_probe)
    look = record.latched or bool(record.paused)
    patience = _patience(record, limits)
    return Plan(probe=True, why="a probe is due", at=now, look=look, patience=patience)


def begin(record: Record, now: int, limits: Limits = DEFAULTS) -> Record:
    """The record to keep before a probe is sent.

    It closes the window for every other prober, also when this one dies halfway.
    """
    closed = max(limits.throttle, _patience(record, limits))
    return replace(record, attempt_at=now, next_probe=now + closed)


def stretched(record: Record, until: int) -> Record:
    """The record to keep when a probe is waited for until then: the window stays closed."""
    return replace(record, next_probe=max(until, record.next_probe or until))


# -- news that callers have often


def answered(record: Record, now: int) -> Evidence:
    """A user's request was answered: it renews a latch without a probe, and never makes one."""
    reason = "a user's request was answered"
    return Evidence(Verdict.SERVING, now, record.generation, reason, source=Source.TRAFFIC)


def refused(record: Record, now: int) -> Evidence:
    """A user's request found the port refused: this life is over. It is no failed listing."""
    return Evidence(
        Verdict.UNREACHABLE,
        now,
        record.generation,
        "connection refused",
        source=Source.TRAFFIC,
        refused=True,
    )


def began(now: int, identity: Identity | None = None) -> Process:
    """A new life begins on purpose: nothing that was known of the old one counts."""
    return Process(Turn.BEGAN, now, identity=identity)


def restarted(record: Record, now: int) -> Record:
    """The record of a new life, for callers that want no effects."""
    return observe(record, began(now), now)[0]


# -- what follows


def _patience(record: Record, limits: Limits) -> int:
    """The deadline of the next probe, of which nobody knows yet how the engine will fare.

    Doubled for each that hung after the first two, up to half the budget: an engine whose first
    token is slow gets there, and one that drops what it held while it loaded is asked again soon.
    """
    doublings = min(max(0, record.hangs - 1), 16)
    most = max(limits.probe_deadline, limits.probe_budget // 2)
    return min(limits.probe_deadline << doublings, most)


def _settled(before: Record, record: Record, status: Status, now: int) -> Record:
    """The status, since when, and the place in rotation that follow."""
    if record.latched:
        routable = status is Status.READY
    else:  # a refused connect alone does not take it out; the next word of the new life does
        routable = record.routable and not record.reached and not record.left
    same = status is before.status and before.since is not None
    since = before.since if same else now
    if (record.status, record.routable, record.since) == (status, routable, since):
        return record  # a copy of so large a value costs more than the rules
    return replace(record, status=status, routable=routable, since=since)


def _effects(before: Record, record: Record, now: int, limits: Limits) -> tuple[Effect, ...]:
    effects: list[Effect] = []
    if record.status is not before.status:
        effects.append(Show(before.status, record.status, record.reason))
    if record.status is Status.FAILED and (record.exited or signs.overdue(record, now, limits)):
        effects.append(Restart(record.reason))
    due = plan(record, now, limits).at
    if due is not None:
        effects.append(Probe(due))
    return tuple(effects)
