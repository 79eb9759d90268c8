"""Performs an answer, action by action, on a connection."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from staticfire.clock import Clock
from staticfire.engine.actions import (
    CHUNKED,
    CLOSE,
    Action,
    Admit,
    Asleep,
    Close,
    CutAfter,
    CutAt,
    Finish,
    Head,
    HoldOpen,
    KeepOpen,
    Pace,
    Raw,
    Send,
    Wait,
)
from staticfire.engine.capacity import Slots
from staticfire.engine.framing import head_bytes
from staticfire.engine.holds import Hold
from staticfire.engine.journal import Entry
from staticfire.engine.plan import HIGH_WATER
from staticfire.engine.tap import Tap

__all__ = ["Player", "Stage", "Stats", "sleep"]


@dataclass(slots=True)
class Stats:
    """Counters that an engine's metrics show."""

    prompt_tokens: int = 0
    generation_tokens: int = 0
    shed: int = 0
    finished: dict[str, int] = field(default_factory=dict)

    def finish(self, reason: str) -> None:
        """Count an answer that ended for this reason."""
        self.finished[reason] = self.finished.get(reason, 0) + 1


class Stage(Protocol):
    """What performing an answer needs of the engine."""

    clock: Clock
    slots: Slots
    stats: Stats

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


async def sleep(clock: Clock, delay: int) -> None:
    """Let `delay` ns pass on the clock."""
    woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    handle = clock.call_at(clock.now() + delay, _wake, woken)
    try:
        await woken
    finally:
        handle.cancel()


def _wake(woken: asyncio.Future[None]) -> None:
    if not woken.done():
        woken.set_result(None)


class Player:
    """One answer on its way to one client.

    Bytes leave before every wait, so that a stream's events are on the wire as they are produced;
    what is produced without a wait leaves in one write. Slots and counters are those of the life in
    which the answer began.
    """

    __slots__ = (
        "_admitted",
        "_bodyless",
        "_chunked",
        "_closing",
        "_entry",
        "_finish",
        "_http10",
        "_out",
        "_size",
        "_slots",
        "_stage",
        "_stats",
        "_tap",
        "_whole",
    )

    def __init__(
        self,
        tap: Tap,
        stage: Stage,
        entry: Entry,
        *,
        closing: bool,
        http10: bool,
        bodyless: bool,
    ) -> None:
        self._tap, self._stage, self._entry = tap, stage, entry
        self._slots, self._stats = stage.slots, stage.stats
        self._closing, self._http10, self._bodyless = closing, http10, bodyless
        self._chunked = self._admitted = self._whole = False
        self._finish: str | None = None
        self._out: list[bytes] = []
        self._size = 0

    async def perform(self, actions: Iterator[Action]) -> bool:
        """Perform the answer; true when the connection may serve another request."""
        tap, stage = self._tap, self._stage
        try:
            for action in actions:
                if isinstance(action, Send):
                    if action.tokens:
                        if stage.holds:
                            place = "token" if self._entry.tokens else "first token"
                            await self._pause_at(place)
                        self._entry.tokens += action.tokens
                        self._stats.generation_tokens += action.tokens
                    self._add(action.data)
                    if self._size > HIGH_WATER:
                        self._flush()
                        await tap.drain()
                else:
                    pending = _DO[type(action)](self, action)
                    if pending is not None:
                        await pending
                if tap.over:
                    break
            self._flush()
            if tap.full or tap.queued:
                await tap.drain(whole=True)
        except asyncio.CancelledError:
            if self._admitted:
                self._stats.finish("abort")
            raise
        finally:
            if self._admitted:
                self._slots.leave()
        if self._whole and not tap.over:
            self._entry.end("whole", self._stage.clock.now())
            tap.journal.settle(self._entry)
            tap.note("done")
        tap.disarm()
        if self._finish is not None:
            self._stats.finish(self._finish)
        return self._whole and not tap.over and not self._closing

    # --- bytes

    def _add(self, data: bytes) -> None:
        if data and not self._bodyless:
            self._out.append(b"%x\r\n%b\r\n" % (len(data), data) if self._chunked else data)
            self._size += len(data)

    def _flush(self) -> None:
        out = self._out
        if out:
            self._tap.send(out[0] if len(out) == 1 else b"".join(out))
            out.clear()
            self._size = 0

    async def _pause_at(self, place: str) -> None:
        hold = self._stage.holds.get(place)
        if hold is not None:
            self._flush()
            await hold.pass_by()

    # --- one method an action

    def _head(self, head: Head) -> Awaitable[None] | None:
        if "head" in self._stage.holds:
            return self._held_head(head)
        self._begin(head)
        return None

    async def _held_head(self, head: Head) -> None:
        await self._pause_at("head")
        self._begin(head)

    def _begin(self, head: Head) -> None:
        self._chunked = head.framing == CHUNKED and not self._http10
        self._closing |= head.framing == CLOSE or (head.framing == CHUNKED and self._http10)
        self._out.append(head_bytes(head, closing=self._closing, http10=self._http10))
        self._entry.status = head.status
        self._entry.answered_at = self._stage.clock.now()
        self._tap.note("answers", note=str(head.status))

    async def _wait(self, wait: Wait) -> None:
        self._flush()
        await self._tap.drain()
        if wait.ns > 0 and not self._tap.over:
            await sleep(self._stage.clock, wait.ns)

    def _finished(self, finish: Finish) -> Awaitable[None] | None:
        if "end" in self._stage.holds:
            return self._held_end(finish)
        self._end(finish)
        return None

    async def _held_end(self, finish: Finish) -> None:
        await self._pause_at("end")
        self._end(finish)

    def _end(self, finish: Finish) -> None:
        if self._chunked and not self._bodyless:
            self._out.append(b"0\r\n\r\n")
        self._finish, self._whole = finish.reason, True

    def _admit(self, admit: Admit) -> Awaitable[None] | None:
        if not self._slots.try_enter():
            self._flush()
            return self._queue(admit)
        self._admitted = True
        self._stats.prompt_tokens += admit.prompt_tokens
        return None

    async def _queue(self, admit: Admit) -> None:
        await self._slots.enter()
        self._admitted = True
        self._stats.prompt_tokens += admit.prompt_tokens

    def _asleep(self, _: Asleep) -> Awaitable[None] | None:
        if not self._stage.hangs:
            return None
        self._flush()
        return self._stage.awake()

    async def _raw(self, raw: Raw) -> None:
        self._out.append(raw.data)
        self._size += len(raw.data)
        if self._size > HIGH_WATER:
            self._flush()
            await self._tap.drain()

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
        self._tap.end(close.reset)


_DO: dict[type[Any], Callable[[Player, Any], Awaitable[None] | None]] = {
    Head: Player._head,  # noqa: SLF001 - the table of this class
    Wait: Player._wait,  # noqa: SLF001
    Finish: Player._finished,  # noqa: SLF001
    Admit: Player._admit,  # noqa: SLF001
    Asleep: Player._asleep,  # noqa: SLF001
    Raw: Player._raw,  # noqa: SLF001
    Pace: Player._pace,  # noqa: SLF001
    CutAt: Player._cut_at,  # noqa: SLF001
    CutAfter: Player._cut_after,  # noqa: SLF001
    KeepOpen: Player._keep_open,  # noqa: SLF001
    HoldOpen: Player._hold_open,  # noqa: SLF001
    Close: Player._close,  # noqa: SLF001
}
