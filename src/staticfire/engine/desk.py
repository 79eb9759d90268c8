"""What an engine is to its parts: the things that taps, players and personalities may ask of it."""

from __future__ import annotations

from email.utils import formatdate

from staticfire.clock import current, ns
from staticfire.engine.actions import Head, Headers
from staticfire.engine.capacity import Slots
from staticfire.engine.holds import Hold
from staticfire.engine.identity import Identity
from staticfire.engine.journal import Journal
from staticfire.engine.lifetime import Lifetime
from staticfire.engine.personalities.base import Personality, personality
from staticfire.engine.phases import Accepting, Sleeping
from staticfire.engine.player import Stats
from staticfire.engine.port import Port
from staticfire.engine.script import Script
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
        self._take(script)

    def _take(self, script: Script) -> None:
        """Begin anew with a script, as a fresh process would."""
        self.script = script
        self.personality: Personality = personality(script.personality)
        self.idle = ns(self.personality.idle)
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
