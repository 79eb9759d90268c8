"""What an engine is to its parts: the things that taps, players and personalities may ask of it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from email.utils import formatdate
from typing import Any

from staticfire.clock import NS, current, ns
from staticfire.engine.actions import Head, Headers
from staticfire.engine.ask import INFERENCE
from staticfire.engine.holds import Hold
from staticfire.engine.identity import Identity
from staticfire.engine.journal import Entry, Journal
from staticfire.engine.lifetime import Lifetime
from staticfire.engine.outliving import is_called
from staticfire.engine.personalities.base import Personality, personality
from staticfire.engine.phases import Accepting, Dead, Phase, Sleeping
from staticfire.engine.port import Port
from staticfire.engine.script import Script
from staticfire.engine.slots import Slots
from staticfire.engine.stage import Stats
from staticfire.engine.tap import Tap

__all__ = ["EngineDesk"]


class EngineDesk:
    """The protocols `Stand`, `Stage` and `Desk`, over one lifetime."""

    def __init__(self, script: Script, identity: Identity, port: Port) -> None:
        self.identity = identity
        self.journal = Journal()
        self.clock = current()
        self._life = Lifetime(self.clock, port, self.journal)
        self._dated = (-1, b"")
        self._ending = self._ends_at_idle = False
        self._take(script)

    def _take(self, script: Script) -> None:
        """Begin anew with a script, as a fresh process would."""
        self.script = script
        self.personality: Personality = personality(script.personality)
        self.idle = ns(self.personality.idle)
        self.manner = self.personality.manner
        self._life.lazy = self.personality.lazy
        self.born = self.clock.wall()
        self._ending = self._ends_at_idle = False
        self.stats = Stats()
        self.slots = Slots(script.capacity)
        self._life.refresh()

    @property
    def taps(self) -> dict[int, Tap]:
        return self._life.taps

    @property
    def holds(self) -> dict[str, Hold]:
        return self._life.holds

    @property
    def open(self) -> bool:
        return self._life.port.open

    @property
    def swallows(self) -> bool:
        return isinstance(self._life.phase(), Accepting)

    def phase(self) -> Phase:
        """The phase at this instant."""
        return self._life.phase()

    @property
    def lists(self) -> bool:
        return self._life.phase().lists

    @property
    def asleep(self) -> bool:
        return self._life.asleep

    @property
    def paused(self) -> bool:
        return self._life.paused

    @property
    def sleepable(self) -> bool:
        return self.script.dev_mode or isinstance(self._life.phase(), Sleeping)

    def sleep(self, level: int) -> None:
        self._life.sleep(level)

    def wake(self) -> None:
        self._life.wake()

    def pause(self, *, on: bool) -> None:
        self._life.pause(on=on)

    @property
    def hangs(self) -> bool:
        return self._life.hangs

    async def awake(self) -> None:
        await self._life.awake()

    # --- SIGTERM

    def terminate(self) -> None:
        """What SIGTERM does to an engine of this personality; a second one ends it at once."""
        if self._ending:
            self._life.live((Dead(),))
            return
        self._ending = True
        self.journal.note(self.clock.now(), 0, "is told to end")
        how = self.personality.sigterm(self)
        if how.answers != "finish":
            for tap in self._in_flight():
                if tap.player is not None:
                    tap.player.stop(how.answers)
        self._life.live((how.phase, Dead()))
        self._ends_at_idle = how.at_idle
        self.answered()

    def answered(self) -> None:
        """An answer is over: an engine that waits for that may end."""
        if self._ends_at_idle:
            asyncio.get_running_loop().call_soon(self._perhaps_ended)

    def _perhaps_ended(self) -> None:
        if self._ends_at_idle and not any(
            tap.entry is not None and tap.entry.ended in ("open", "held")
            for tap in self._in_flight()
        ):
            self._life.live((Dead(),))

    # --- what a fault does to the whole engine

    def die(self, *, reset: bool, back: int | None) -> None:
        gone = Dead(seconds=None if back is None else back / NS, reset=reset)
        self._life.live((gone,))

    def lose_scheduler(self) -> None:
        self._life.lose_scheduler()
        for tap in self._in_flight():
            tap.freeze()

    def adopt(self, entry: Entry, rest: Coroutine[Any, Any, bool]) -> asyncio.Task[bool]:
        return self._life.outliving.adopt(entry, rest)

    def abort(self, request_id: str | None) -> None:
        for tap in self._in_flight():
            if tap.entry is not None and is_called(tap.entry, request_id):
                tap.entry.end("aborted", self.clock.now())
                tap.end()
        self._life.outliving.end(lambda entry: is_called(entry, request_id))
        self.journal.note(self.clock.now(), 0, "aborts", note=request_id or "every request")

    def _in_flight(self) -> list[Tap]:
        """The connections on which an inference answer is going on."""
        endpoint = self.personality.endpoint
        return [
            tap
            for tap in self.taps.values()
            if (entry := tap.entry) is not None
            and not tap.over
            and endpoint(entry.method, entry.path) in INFERENCE
        ]

    def complain(self, status: int, message: str | None) -> tuple[Headers, bytes]:
        return self.personality.complain(status, message, "other", self)

    def complain_of_health(self, status: int, message: str | None) -> tuple[Headers, bytes]:
        return self.personality.complain(status, message, "health", self)

    def not_http(self) -> tuple[Head, bytes]:
        return self.personality.not_http(self)

    def wall(self) -> int:
        return int(self.clock.wall())

    def date(self) -> bytes:
        second = self.wall()
        if self._dated[0] != second:
            self._dated = (second, formatdate(second, usegmt=True).encode())
        return self._dated[1]
