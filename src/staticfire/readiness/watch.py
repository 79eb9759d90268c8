"""One engine under watch."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from staticfire import wire
from staticfire.clock import current, ns
from staticfire.readiness import core
from staticfire.readiness.effects import Effect, Show
from staticfire.readiness.evidence import Evidence, News
from staticfire.readiness.exchange import Line
from staticfire.readiness.probing import account_of, prove
from staticfire.readiness.questions import Engine, ask_models
from staticfire.readiness.record import Plan, Record
from staticfire.readiness.settings import Limits, Settings

__all__ = ["Keeper", "Memory", "Watch", "check_all"]


class Keeper(Protocol):
    """Where a watch keeps its record: in memory, or where several processes share it."""

    def now(self) -> int:
        """Nanoseconds on the clock that the record's times are of."""

    def record(self) -> Record:
        """What is known now."""

    def observe(self, news: News) -> Record:
        """Take in news, whose times are those of the running loop."""

    def begin(self, now: int) -> Record | None:
        """Write down that a probe begins; None when another process is at one."""

    def stretch(self, by: int) -> Record:
        """Write down that the probe is waited for `by` nanoseconds from now."""


class Memory:
    """A record in this process's memory. `on_effects` is told what each piece of news asks for."""

    def __init__(
        self,
        limits: Limits,
        record: Record | None = None,
        on_effects: Callable[[tuple[Effect, ...]], None] | None = None,
    ) -> None:
        self.limits = limits
        self.on_effects = on_effects
        self._record = record if record is not None else Record()

    def now(self) -> int:
        return current().now()

    def record(self) -> Record:
        return self._record

    def observe(self, news: News) -> Record:
        self._record, effects = core.observe(self._record, news, self.now(), self.limits)
        if self.on_effects is not None and effects:
            self.on_effects(effects)
        return self._record

    def begin(self, now: int) -> Record | None:
        self._record = core.begin(self._record, now, self.limits)
        return self._record

    def stretch(self, by: int) -> Record:
        self._record = core.stretched(self._record, self.now() + by)
        return self._record


class Watch:
    """Asks one engine what its record says is due, and keeps what came of it.

    Without a `model` it proves the first one listed. `on_show` is told each change of status,
    once. Raises WrongInput for a URL that is none.
    """

    def __init__(
        self,
        url: str,
        model: str | None = None,
        *,
        settings: Settings | None = None,
        headers: Iterable[wire.Header] = (),
        keeper: Keeper | None = None,
        on_show: Callable[[Show], None] | None = None,
    ) -> None:
        self.settings = settings if settings is not None else Settings()
        self.limits = self.settings.limits
        self.engine = Engine(wire.parse_url(url), tuple(headers), self.settings)
        self.model = model
        self.probing = False
        self._account = account_of(self.engine)
        self._on_show = on_show
        self._keeper = (
            keeper if keeper is not None else Memory(self.limits, on_effects=self._effects)
        )
        self._renewed: int | None = None
        self._turn = asyncio.Lock()
        self._line = Line()

    @property
    def url(self) -> str:
        """The engine's address in its one normal form."""
        return self.engine.address.url

    @property
    def record(self) -> Record:
        """What is known now, answered user traffic included."""
        if self._renewed is not None:
            at, self._renewed = self._renewed, None
            return self._keeper.observe(core.answered(self._keeper.record(), at))
        return self._keeper.record()

    @property
    def why(self) -> str:
        """Why it is not ready yet, or what proved it."""
        if self.probing:
            return "the model is listed; its chat has not answered yet"
        return self.record.reason

    def plan(self, now: int) -> Plan:
        """What may be sent at `now`, in nanoseconds."""
        return core.plan(self.record, now, self.limits)

    def renew(self, now: int | None = None) -> None:
        """A user's request was answered (at `now`, in nanoseconds). Cheap: call it for each."""
        self._renewed = current().now() if now is None else now

    def refused(self) -> None:
        """A user's request found the port refused: a new generation starts."""
        self._keeper.observe(core.refused(self.record, current().now()))

    def restarted(self) -> None:
        """The engine was restarted on purpose: a new generation starts."""
        self._renewed = None
        self._keeper.observe(core.began(current().now()))

    async def check(self, *, until: int | None = None) -> Record:
        """Ask for the list, then send a probe when one is due; the record after that.

        One check at a time: a second one waits for the first. `until` is an instant in nanoseconds
        by which everything is over, whatever the deadlines of the settings.
        """
        async with self._turn:
            try:
                return await self._check(until)
            finally:
                self._line.close()

    async def _check(self, until: int | None) -> Record:
        clock, limits, keeper = current(), self.limits, self._keeper
        before = self.record
        over = until is not None and clock.now() >= until  # what is not asked says nothing
        if over or not core.plan(before, keeper.now(), limits).listing:
            return before
        found = await ask_models(
            self.engine,
            self.model,
            deadline=_earlier(clock.now() + limits.listing_deadline, until),
            generation=before.generation,
            prefer=before.served_model,
            line=self._line,
        )
        record = keeper.observe(found.evidence)
        asked = found.evidence.model
        if found.entry is None or asked is None or record.generation != before.generation:
            return record
        plan = core.plan(self.record, keeper.now(), limits)
        if plan.probe and plan.look:
            said = await self._look(asked, record.generation, until)
            if said is not None:
                return keeper.observe(said)
            plan = core.plan(self.record, keeper.now(), limits)
        begun = keeper.begin(keeper.now()) if plan.probe else None
        if begun is None:
            return keeper.record()
        now = clock.now()
        self.probing = True
        try:
            evidence = await prove(
                self.engine,
                asked,
                self._account,
                deadline=_earlier(now + plan.patience, until),
                last=_earlier(now + limits.probe_budget, until),
                entry=found.entry,
                generation=begun.generation,
                on_stretch=lambda at: keeper.stretch(at - clock.now()),
                line=self._line,
            )
        finally:
            self.probing = False
        _ = self.record  # what users were answered meanwhile comes first
        return keeper.observe(evidence)

    async def _look(self, model: str, generation: int, until: int | None) -> Evidence | None:
        """What the engine's own account says against a probe now: users wait, or it is asleep."""
        now = current().now()
        deadline = _earlier(now + self.limits.listing_deadline, until)
        tokens = self.record.tokens
        load = await self._account.ask(deadline=deadline, generation=generation, tokens=tokens)
        return load.evidence(generation, now, model)

    def _effects(self, effects: tuple[Effect, ...]) -> None:
        if self._on_show is not None:
            for effect in effects:
                if isinstance(effect, Show):
                    self._on_show(effect)


def _earlier(deadline: int, until: int | None) -> int:
    return deadline if until is None else min(deadline, until)


async def check_all(watches: Sequence[Watch], *, within: float = 10.0) -> tuple[Record, ...]:
    """Check every engine, side by side, all within so many seconds: N slow ones cost one deadline.

    A check that does not fit is cut at that time, and its record says what was found by then.
    """
    until = current().now() + ns(within)
    return tuple(await asyncio.gather(*(watch.check(until=until) for watch in watches)))
