"""The schedule of an engine with places to wait at."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from staticfire.clock import Clock, ns
from staticfire.engine.capacity import Capacity
from staticfire.engine.capacity_blocks import keys_of
from staticfire.engine.capacity_schedule import Schedule, Work
from staticfire.engine.naps import sleep

__all__ = ["Slots"]


class Slots:
    """What requests of one engine ask for: to run, to wait, to make tokens."""

    __slots__ = ("_places", "bounded", "capacity", "instant", "quick", "schedule")

    def __init__(self, capacity: Capacity) -> None:
        self.capacity = capacity
        self.schedule = Schedule(capacity)
        self.instant = not (capacity.first_token or capacity.per_prompt_token)
        """Whether a prefill takes no time."""
        self.bounded = capacity.queue is not None or capacity.queued_tokens is not None
        """Whether a request may be refused."""
        self.quick = self.instant and self.schedule.plain
        """Whether a request with a slot may make tokens at once, and needs no `Work` for that."""
        self._places: dict[Work, asyncio.Future[None]] | None = None

    @property
    def running(self) -> int:
        return len(self.schedule.running) + self.schedule.counted

    @property
    def waiting(self) -> int:
        return len(self.schedule.waiting)

    def work(self, prompt_tokens: int, text: str = "") -> Work:
        """A request's work; `text` is its prompt, to find what an equal beginning left."""
        if not text or self.schedule.blocks is None or not self.capacity.reuse:
            return Work(prompt_tokens)
        size = self.capacity.block_size
        return Work(prompt_tokens, keys_of(text, size, prompt_tokens // size))

    def leave_quick(self) -> None:
        """A request that was only counted has ended."""
        started = self.schedule.count_out()
        if started:
            self._tell(started)

    def prefill(self, work: Work) -> int:
        """How long the prefill of a request that has just begun to run takes, in ns."""
        if self.instant:
            return 0
        return ns(self.capacity.first_token) + ns(self.capacity.per_prompt_token * work.fresh)

    async def _wait(self, work: Work) -> None:
        """Wait until a request runs; whoever leaves makes room."""
        if self._places is None:
            self._places = {}
        place = self._places[work] = asyncio.get_running_loop().create_future()
        try:
            await place
        finally:
            self._places.pop(work, None)

    def prefilled(self, work: Work) -> None:
        """The prefill is done: the request may make tokens."""
        started = self.schedule.prefilled(work)
        if started:
            self._tell(started)

    def leave(self, work: Work) -> None:
        """A request has ended, or its client left."""
        started = self.schedule.leave(work)
        if started:
            self._tell(started)

    async def compute(self, work: Work, clock: Clock) -> None:
        """Wait until a request runs and its prefill is done, again if it loses its blocks."""
        while not work.ready:
            if not work.running:
                await self._wait(work)
                continue
            admission, delay = work.admissions, self.prefill(work)
            if delay:
                await sleep(clock, delay)
            if work in self.schedule.running and work.admissions == admission:
                self.prefilled(work)

    async def grow(self, work: Work, tokens: int, clock: Clock) -> None:
        """Wait until there is room for more tokens of a request, which may be preempted for it."""
        if not work.ready:
            await self.compute(work, clock)
        if not self.schedule.grow(work, tokens):
            await self.compute(work, clock)

    def _tell(self, started: Sequence[Work]) -> None:
        for work in started:
            place = self._places.get(work) if self._places else None
            if place is not None and not place.done():
                place.set_result(None)
