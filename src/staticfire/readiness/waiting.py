"""Waiting for many engines at once, side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from staticfire import wire
from staticfire.clock import NS, current, ns
from staticfire.errors import WrongInput, did_you_mean
from staticfire.readiness.questions import Engine, ask_health, ask_models
from staticfire.readiness.settings import Settings
from staticfire.readiness.verdict import Verdict
from staticfire.readiness.watch import Watch

__all__ = ["UNTIL", "Change", "Target", "Waited", "targets_of", "wait_for"]

UNTIL = ("health", "listed", "serving")
RECHECK = 10.0
"""Seconds between looks at an engine that is already there: one that dies again is missing."""


@dataclass(frozen=True, slots=True)
class Target:
    """One engine to wait for: up to where, and for which model (None: any)."""

    url: str
    until: str = "serving"
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """One engine's news: whether it is there now, why, how many are there. `at` is ns waited."""

    target: Target
    there: bool
    reason: str
    count: int
    total: int
    at: int


@dataclass(frozen=True, slots=True)
class Waited:
    """How a wait ended. `after` is in nanoseconds."""

    ok: bool
    after: int
    there: tuple[Target, ...]
    missing: tuple[tuple[Target, str], ...]
    """Each engine that is not there, with why."""


def targets_of(
    targets: Iterable[str | Target], *, until: str = "serving", model: str | None = None
) -> tuple[Target, ...]:
    """Targets in their normal form; a URL that comes twice counts once.

    Raises WrongInput for a URL that is none and for an unknown `until`.
    """
    seen: dict[str, Target] = {}
    for given in targets:
        target = Target(given, until, model) if isinstance(given, str) else given
        if target.until not in UNTIL:
            raise WrongInput(
                "until",
                expected=f"one of {', '.join(UNTIL)}",
                found=repr(target.until),
                do=did_you_mean(target.until, UNTIL),
            )
        url = wire.parse_url(target.url, where="worker").url
        seen.setdefault(url, replace(target, url=url))
    return tuple(seen.values())


async def wait_for(
    targets: Sequence[str | Target],
    *,
    until: str = "serving",
    model: str | None = None,
    at_least: int | None = None,
    timeout: float,  # noqa: ASYNC109 - running out is an answer here, with who is missing
    interval: float = 1.0,
    on_change: Callable[[Change], None] | None = None,
    settings: Settings | None = None,
    headers: Iterable[wire.Header] = (),
) -> Waited:
    """Wait until all of `targets` (or `at_least` that many) are there at the same time.

    Times in seconds. Each engine is looked at every `interval`, on a beat of its own: slow ones
    hold nobody up. Raises WrongInput for no targets and for an `at_least` that cannot be.
    """
    chosen = targets_of(targets, until=until, model=model)
    needed = len(chosen) if at_least is None else at_least
    if not chosen:
        raise WrongInput("workers", expected="at least one URL", found="none")
    if not 1 <= needed <= len(chosen):
        raise WrongInput("at least", expected=f"a number from 1 to {len(chosen)}", found=needed)
    base = settings if settings is not None else Settings()
    base = replace(base, interval=interval)
    start = current().now()
    room = _Room(chosen, needed, start, start + ns(timeout), on_change)
    looks = [
        _Look(Engine(wire.parse_url(t.url), tuple(headers), base), t, i, room)
        for i, t in enumerate(chosen)
    ]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(look.follow(), name=f"wait for {look.url}") for look in looks]
        try:
            async with asyncio.timeout(timeout):
                await room.enough.wait()
        except TimeoutError:
            pass
        finally:
            reasons = [look.why for look in looks]
            for task in tasks:
                task.cancel()
    there = tuple(t for i, t in enumerate(chosen) if i in room.there)
    missing = tuple((t, reasons[i]) for i, t in enumerate(chosen) if i not in room.there)
    return Waited(len(there) >= needed, current().now() - start, there, missing)


class _Room:
    """Who is there."""

    def __init__(
        self,
        targets: Sequence[Target],
        needed: int,
        start: int,
        end: int,
        on_change: Callable[[Change], None] | None,
    ) -> None:
        self.targets = targets
        self.needed = needed
        self.start = start
        self.end = end
        self.there: set[int] = set()
        self.enough = asyncio.Event()
        self._told: dict[int, tuple[bool, str]] = {}
        self._on_change = on_change

    def tell(self, index: int, there: bool, reason: str) -> None:
        if self.enough.is_set() or self._told.get(index) == (there, reason):
            return
        self._told[index] = (there, reason)
        (self.there.add if there else self.there.discard)(index)
        if self._on_change is not None:
            at = current().now() - self.start
            news = (self.targets[index], there, reason, len(self.there), len(self.targets), at)
            self._on_change(Change(*news))
        if len(self.there) >= self.needed:
            self.enough.set()


class _Look:
    """The looks at one engine, one after the other."""

    def __init__(self, engine: Engine, target: Target, index: int, room: _Room) -> None:
        self._engine = engine
        self._target = target
        self._index = index
        self._room = room
        self._reason = "no answer yet"
        self._watch: Watch | None = None
        if target.until == "serving":
            self._watch = Watch(
                target.url, target.model, settings=engine.settings, headers=engine.headers
            )

    @property
    def url(self) -> str:
        return self._target.url

    @property
    def why(self) -> str:
        watch = self._watch
        if watch is not None and (watch.probing or watch.record.evidence is not None):
            return watch.why
        return self._reason

    async def follow(self) -> None:
        clock = current()
        beat = ns(self._engine.settings.interval)
        while True:
            there, due = await self._look()
            self._room.tell(self._index, there, self.why)
            now = clock.now()
            if there:
                wake = now + ns(RECHECK)
            else:
                wake = self._room.start + ((now - self._room.start) // beat + 1) * beat
                if due is not None and now < due <= wake + beat // 2:
                    wake = due  # a look right before it would only ask for the list once more
            await asyncio.sleep((wake - now) / NS)

    async def _look(self) -> tuple[bool, int | None]:
        """Whether it is there, and when the next probe of it is due."""
        now = current().now()
        end = self._room.end
        if self._watch is not None:
            record = await self._watch.check(until=end)
            due = self._watch.plan(current().now()).at
            return record.ready and record.routable, due
        deadline = min(end, now + self._engine.settings.limits.listing_deadline)
        if self._target.until == "health":
            evidence = await ask_health(self._engine, deadline=deadline)
            there = evidence.verdict is Verdict.SERVING
        else:
            found = await ask_models(self._engine, self._target.model, deadline=deadline)
            evidence = found.evidence
            there = evidence.verdict is Verdict.LISTING
        self._reason = evidence.reason
        return there, None
