"""What performing an answer needs of the engine, and the counters that it moves."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from staticfire.clock import Clock
from staticfire.engine.capacity import Full
from staticfire.engine.framing import Manner
from staticfire.engine.holds import Hold
from staticfire.engine.journal import Entry
from staticfire.engine.latency import Latency
from staticfire.engine.naps import sleep
from staticfire.engine.slots import Slots

__all__ = ["Stage", "Stats", "sleep"]


@dataclass(slots=True)
class Stats:
    """Counters that an engine's metrics show."""

    prompt_tokens: int = 0
    generation_tokens: int = 0
    shed: dict[Full, int] = field(default_factory=dict)
    finished: dict[str, int] = field(default_factory=dict)
    ended: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    """How long requests took, as `Latency.took` wants them: they come into the
    histograms when somebody looks (hot)."""
    _latency: Latency | None = None

    def refuse(self, why: Full) -> None:
        """Count a request that was shed."""
        self.shed[why] = self.shed.get(why, 0) + 1

    def finish(self, reason: str) -> None:
        """Count an answer that ended for this reason."""
        self.finished[reason] = self.finished.get(reason, 0) + 1

    def latency(self) -> Latency:
        """The histograms of all requests that have ended."""
        if self._latency is None:
            self._latency = Latency()
        ended, self.ended = self.ended, []
        for times in ended:
            self._latency.took(*times)
        return self._latency


class Stage(Protocol):
    """What performing an answer needs of the engine."""

    clock: Clock
    slots: Slots
    stats: Stats
    manner: Manner

    @property
    def holds(self) -> Mapping[str, Hold]:
        """The holds by their places."""
        ...

    @property
    def hangs(self) -> bool:
        """Whether the engine sleeps or is paused."""
        ...

    async def awake(self) -> None:
        """Wait until the engine does not sleep."""
        ...

    def die(self, *, reset: bool, back: int | None) -> None:
        """The process is gone at this instant; a new one serves after `back` ns, if given."""
        ...

    def lose_scheduler(self) -> None:
        """No answer moves on any more in this life."""
        ...

    def adopt(self, entry: Entry, rest: Coroutine[Any, Any, bool]) -> asyncio.Task[bool]:
        """Perform the rest of an answer in a task of its own, which ends with the life."""
        ...

    def abort(self, request_id: str | None) -> None:
        """End the answers to the requests with this id, or all."""
        ...
