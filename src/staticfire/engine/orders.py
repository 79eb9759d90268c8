"""What a fault orders besides bytes: of the connection's tap, and of the whole engine."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from staticfire.engine.actions import (
    Abort,
    Afterwards,
    Close,
    CutAfter,
    CutAt,
    Die,
    HoldOpen,
    KeepOpen,
    LoseScheduler,
    Outlive,
    Pace,
)
from staticfire.engine.journal import Entry
from staticfire.engine.stage import Stage
from staticfire.engine.tap import Tap

__all__ = ["ORDERS", "Handed", "Orders"]


class Handed(Exception):
    """The rest of an answer was performed by an heir; whether its connection may be kept."""

    def __init__(self, *, keep: bool) -> None:
        super().__init__()
        self.keep = keep


class Orders:
    """One method an order; the player of an answer inherits them."""

    __slots__ = ()

    _tap: Tap
    _stage: Stage
    _entry: Entry

    def _flush(self) -> None:
        raise NotImplementedError

    def _rest(self) -> Coroutine[Any, Any, bool]:
        raise NotImplementedError

    def _pace(self, pace: Pace) -> None:
        plan = self._tap.arm()
        plan.pace, plan.every, plan.part = pace.bytes, pace.every, pace.part

    def _cut_at(self, cut: CutAt) -> None:
        plan = self._tap.arm()
        plan.cut_at, plan.cut_reset = cut.wire, cut.reset

    def _cut_after(self, cut: CutAfter) -> None:
        self._flush()
        self._tap.cut_after(cut.ns, reset=cut.reset)

    def _keep_open(self, _: KeepOpen) -> None:
        self._tap.keep_open = True

    async def _hold_open(self, _: HoldOpen) -> None:
        self._flush()
        await self._tap.drain(whole=True)
        self._tap.keep_open = True
        self._entry.end("held", self._stage.clock.now())
        self._tap.note("holds open")
        await asyncio.get_running_loop().create_future()

    async def _close(self, close: Close) -> None:
        self._flush()
        await self._tap.drain(whole=True)
        if self._tap.keep_open:
            await self._hold_open(HoldOpen())
        self._tap.end(close.reset)

    def _afterwards(self, afterwards: Afterwards) -> None:
        self._tap.fate = afterwards

    async def _die(self, die: Die) -> None:
        self._flush()
        await self._tap.drain(whole=True)
        self._stage.die(reset=die.reset, back=die.back)

    def _lose_scheduler(self, _: LoseScheduler) -> None:
        self._flush()
        self._stage.lose_scheduler()

    def _abort(self, abort: Abort) -> None:
        self._stage.abort(abort.id)

    async def _outlive(self, _: Outlive) -> None:
        """Hand everything over to an heir, which no leaving client cancels."""
        self._flush()
        task = self._stage.adopt(self._entry, self._rest())
        try:
            raise Handed(keep=await asyncio.shield(task))
        except asyncio.CancelledError:
            if not task.cancelled():
                raise  # the client left
            raise Handed(keep=False) from None  # the answer was ended


ORDERS: dict[type[Any], Callable[[Any, Any], Awaitable[None] | None]] = {
    Pace: Orders._pace,  # noqa: SLF001 - the table of this class
    CutAt: Orders._cut_at,  # noqa: SLF001
    CutAfter: Orders._cut_after,  # noqa: SLF001
    KeepOpen: Orders._keep_open,  # noqa: SLF001
    HoldOpen: Orders._hold_open,  # noqa: SLF001
    Close: Orders._close,  # noqa: SLF001
    Afterwards: Orders._afterwards,  # noqa: SLF001
    Die: Orders._die,  # noqa: SLF001
    LoseScheduler: Orders._lose_scheduler,  # noqa: SLF001
    Abort: Orders._abort,  # noqa: SLF001
    Outlive: Orders._outlive,  # noqa: SLF001
}
