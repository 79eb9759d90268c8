"""One engine under watch, its record in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from staticfire import wire
from staticfire.clock import current
from staticfire.readiness import core
from staticfire.readiness.questions import Engine, ask_chat, ask_models
from staticfire.readiness.record import Plan, Record
from staticfire.readiness.settings import Settings

__all__ = ["Watch"]


class Watch:
    """Asks one engine what its record says is due, and keeps what came of it.

    Without a `model` it proves the first one listed. Raises WrongInput for a URL that is none.
    """

    def __init__(
        self,
        url: str,
        model: str | None = None,
        *,
        settings: Settings | None = None,
        headers: Iterable[wire.Header] = (),
    ) -> None:
        self.settings = settings if settings is not None else Settings()
        self.limits = self.settings.limits
        self.engine = Engine(wire.parse_url(url), tuple(headers), self.settings)
        self.model = model
        self.probing = False
        self._record = Record()
        self._renewed: int | None = None
        self._turn = asyncio.Lock()

    @property
    def url(self) -> str:
        """The engine's address in its one normal form."""
        return self.engine.address.url

    @property
    def record(self) -> Record:
        """What is known now, answered user traffic included."""
        if self._renewed is not None:
            self._record = core.renew(self._record, self._renewed, self.limits)
            self._renewed = None
        return self._record

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
        self._record = core.refused(self.record, current().now(), self.limits)

    def restarted(self) -> None:
        """The engine was restarted on purpose: a new generation starts."""
        self._record = core.restarted(self.record, current().now())

    async def check(self, *, until: int | None = None) -> Record:
        """Ask for the list, then send a probe when one is due; the record after that.

        One check at a time: a second one waits for the first. `until` is an instant in nanoseconds
        by which everything is over, whatever the deadlines of the settings.
        """
        async with self._turn:
            return await self._check(until)

    async def _check(self, until: int | None) -> Record:
        clock, limits = current(), self.limits
        before = self.record
        found = await ask_models(
            self.engine,
            self.model,
            deadline=_earlier(clock.now() + limits.listing_deadline, until),
            generation=before.generation,
            prefer=before.served_model,
        )
        now = clock.now()
        self._record = core.observe(self.record, found.evidence, now, limits)
        asked = found.evidence.model
        if found.entry is None or asked is None or self._record.generation != before.generation:
            return self._record
        if not core.plan(self._record, now, limits).probe:
            return self._record
        self._record = core.begin(self._record, now, limits)
        self.probing = True
        try:
            evidence = await ask_chat(
                self.engine,
                asked,
                deadline=_earlier(now + limits.probe_deadline, until),
                entry=found.entry,
                generation=self._record.generation,
            )
        finally:
            self.probing = False
        self._record = core.observe(self.record, evidence, clock.now(), limits)
        return self._record


def _earlier(deadline: int, until: int | None) -> int:
    return deadline if until is None else min(deadline, until)
