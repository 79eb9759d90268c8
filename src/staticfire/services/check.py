"""One throttled check of a service, safe between processes.

What is found is written in the transaction that reads what it was found against. A probe is
claimed before its request is sent: of all the processes that want one, one gets it, and when it
dies halfway the window stays closed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from staticfire.clock import current
from staticfire.readiness import Watch, core
from staticfire.readiness.evidence import Evidence, Identity, News
from staticfire.readiness.keys import key_headers
from staticfire.readiness.record import Record
from staticfire.readiness.settings import Limits
from staticfire.readiness.verdict import Source, Status, Verdict
from staticfire.services.decide import Facts, looked
from staticfire.services.host import Host
from staticfire.services.processes import read
from staticfire.services.service import Lease, Service
from staticfire.services.store import Store

__all__ = ["Checked", "Checker", "Keeper", "promoted"]


@dataclass(frozen=True, slots=True)
class Checked:
    """A service after a check, with what the check itself found."""

    service: Service
    facts: Facts
    found: Evidence | None = None
    """The last evidence, also where it was not kept; None when nothing was asked."""


class Checker:
    """Checks services of a store. A busy engine is probed again after `interval` seconds.

    One that only `promotes` writes what makes a service better known, and nothing else: a user's
    list must not count a slow moment against anybody.
    """

    def __init__(
        self, store: Store, host: Host, *, interval: float = 15.0, promotes: bool = False
    ) -> None:
        self.store = store
        self.host = host
        self.interval = interval
        self.promotes = promotes

    async def check(self, name: str, *, until: int | None = None) -> Checked:
        """Look at its process, ask for its list, then send a probe when one is due.

        `until` is an instant of the loop's clock, in nanoseconds, by which it is over.
        Raises WrongInput for a service that there is not, and for a key that cannot be read.
        """
        service = self.store.get(name)
        facts = self.host.look(service)
        service = self._looked(service, facts)
        if not core.plan(service.readiness, current().boot()).listing:
            return Checked(service, facts)
        accept = "proven" if service.life.smoked is not None else "strict"
        settings = service.patience.settings(interval=self.interval, accept=accept)
        environ = self.store.environ(name) if service.key_env else {}
        headers = key_headers(env=service.key_env, file=service.key_file, environ=environ)
        owner = self.host.owner(service)
        keeper = Keeper(self.store, service, settings.limits, owner, promotes=self.promotes)
        watch = Watch(service.url, service.model, settings=settings, headers=headers, keeper=keeper)
        await watch.check(until=until)
        return Checked(keeper.service, facts, keeper.found)

    def _looked(self, service: Service, facts: Facts) -> Service:
        now = current().boot()
        seen = looked(service, facts, now)
        if seen == service or self.promotes:
            return seen
        wall = current().wall()
        return self.store.change(
            service.name,
            lambda s: told(s, looked(s, facts, now), wall) if same_life(s, service) else s,
        )


class Keeper:
    """Keeps a watch's record in the store (`readiness.watch.Keeper`), in boot-clock time.

    News of another life of the service changes nothing.
    """

    def __init__(
        self, store: Store, service: Service, limits: Limits, owner: Identity | None = None,
        *, promotes: bool = False,
    ) -> None:  # fmt: skip
        self.service = service
        self.found: Evidence | None = None
        self._store = store
        self._limits = limits
        self._owner = owner
        self._promotes = promotes
        self._lease: Lease | None = None

    def now(self) -> int:
        """On the boot clock."""
        return current().boot()

    def record(self) -> Record:
        """What is known, as of the last write."""
        return self.service.readiness

    def observe(self, news: News) -> Record:
        """Take in evidence, against what the record says by now."""
        assert isinstance(news, Evidence)
        clock = current()
        self.found = evidence = replace(
            news.moved(clock.boot() - clock.now()), owner=self._owner or news.owner
        )
        now = clock.boot()

        def observed(service: Service) -> Service:
            before = service.readiness
            after, _ = core.observe(before, evidence, now, self._limits)
            if self._promotes:
                after = promoted(before, after, evidence)
            if self._lease is not None and service.lease == self._lease:
                service = replace(service, lease=None)
            return smoked(replace(service, readiness=after), evidence)

        return self._change(observed)

    def begin(self, now: int) -> Record | None:
        """Claim the probe that is due; None when another process has it."""
        lease = Lease(os.getpid(), _start_of(os.getpid()), now + self._limits.probe_deadline)
        generation = self.service.readiness.generation
        won: list[Lease] = []

        def claimed(service: Service) -> Service:
            record = service.readiness
            if record.generation != generation or held(service.lease, now):
                return service
            if not core.plan(record, now, self._limits).probe:
                return service
            won.append(lease)
            begun = core.begin(record, now, self._limits)
            return replace(service, readiness=begun, lease=lease)

        record = self._change(claimed)
        self._lease = won[0] if won else None
        return record if won else None

    def stretch(self, by: int) -> Record:
        """The probe is waited for longer: nobody else begins one meanwhile."""
        until = current().boot() + by

        def stretched(service: Service) -> Service:
            lease = service.lease
            if lease is not None and lease == self._lease:
                lease = self._lease = replace(lease, until=max(until, lease.until))
            longer = core.stretched(service.readiness, until)
            return replace(service, readiness=longer, lease=lease)

        return self._change(stretched)

    def _change(self, how: Callable[[Service], Service]) -> Record:
        asked, wall = self.service, current().wall()

        def change(service: Service) -> Service:
            return told(service, how(service), wall) if same_life(service, asked) else service

        self.service = self._store.change(asked.name, change)
        return self.service.readiness


RANK = {
    Status.FAILED: 0, Status.MISCONFIGURED: 1, Status.STARTING: 1, Status.RUNNING: 2,
    Status.DEGRADED: 3, Status.READY: 4,
}  # fmt: skip


def promoted(before: Record, after: Record, evidence: Evidence) -> Record:
    """What of a change makes a service better known; of the rest only the throttle stays.

    A probe that was sent was sent, whoever looked: the next one comes no sooner for it.
    """
    old, new = RANK.get(before.status, 9), RANK.get(after.status, 0)
    proof = evidence.verdict is Verdict.SERVING
    harmless = not before.latched and after.status is before.status
    same = after.generation == before.generation
    if same and (new > old or (new == old and (proof or harmless))):
        return after
    next_probe = after.next_probe if evidence.source is not Source.LISTING else before.next_probe
    return replace(before, next_probe=next_probe or before.next_probe)


def smoked(service: Service, evidence: Evidence) -> Service:
    """The first answered probe of a life is the strict smoke test."""
    record, life = service.readiness, service.life
    if evidence.source is not Source.CHAT or evidence.verdict is not Verdict.SERVING:
        return service
    if life.smoked is not None or not record.latched or evidence.generation != record.generation:
        return service
    took = evidence.at - evidence.started
    return replace(service, life=replace(life, smoked=evidence.at, answered_in=took))


def told(before: Service, after: Service, wall: float) -> Service:
    """The service after a change; a new status is a line of its history."""
    if after.status is before.status:
        return after
    return after.noted(wall, f"{after.status}: {after.readiness.reason}")


def same_life(one: Service, other: Service) -> bool:
    """Whether two records speak of one process."""
    return one.life.nonce == other.life.nonce and one.boot == other.boot


def held(lease: Lease | None, now: int) -> bool:
    """Whether somebody who lives probes now."""
    if lease is None or now >= lease.until:
        return False
    holder = read(lease.pid)
    return holder is not None and holder.start == lease.start and holder.alive


@cache
def _start_of(pid: int) -> int:
    """The start time of a process that lives as long as we ask."""
    found = read(pid)
    return 0 if found is None else found.start
