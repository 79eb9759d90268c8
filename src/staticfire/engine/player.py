"""Performs an answer, action by action, on a connection."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from typing import Any

from staticfire.engine.actions import (
    CHUNKED,
    CLOSE,
    Action,
    Admit,
    Asleep,
    Finish,
    Grow,
    Head,
    HoldOpen,
    Raw,
    Send,
    Terminated,
    Unchunk,
    Wait,
    last_words,
)
from staticfire.engine.capacity_schedule import Work
from staticfire.engine.framing import head_bytes
from staticfire.engine.journal import Entry
from staticfire.engine.orders import ORDERS, Handed, Orders
from staticfire.engine.plan import HIGH_WATER
from staticfire.engine.stage import Stage, Stats, sleep
from staticfire.engine.tap import Tap

__all__ = ["Player", "Stage", "Stats", "sleep"]


class Player(Orders):
    """One answer on its way to one client.

    Bytes leave before every wait, so that a stream's events are on the wire as they are produced;
    what is produced without a wait leaves in one write. Slots and counters are those of the life in
    which the answer began.
    """

    __slots__ = (
        "_actions", "_bodyless", "_chunked", "_closing", "_counted", "_entry", "_finish",
        "_first_at", "_http10", "_lead", "_out", "_outlives", "_size", "_slots", "_stage",
        "_stats", "_tap", "_task", "_told", "_whole", "_work",
    )  # fmt: skip

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
        self._chunked = self._whole = self._outlives = self._counted = False
        self._work: Work | None = None
        self._first_at: int | None = None
        self._finish: str | None = None
        self._out: list[bytes] = []
        self._size = 0
        self._lead = b""
        self._told: str | None = None

    async def perform(self, actions: Iterator[Action]) -> bool:
        """Perform the answer; true when the connection may serve another request."""
        tap = self._tap
        tap.player = self
        self._task = asyncio.current_task()
        self._actions = actions
        try:
            try:
                await self._play(actions)
            except asyncio.CancelledError:
                if self._told is None:
                    raise
                await self._play(await self._told_to_end(actions))
            self._flush()
            if self._told is not None and not self._whole:
                tap.end()
            if tap.full or tap.queued:
                await tap.drain(whole=True)
        except Handed as handed:
            return handed.keep
        except asyncio.CancelledError:
            if self._counted or (self._work is not None and self._work.admissions):
                self._stats.finish("abort")
            raise
        finally:
            tap.player = None
            if self._counted:
                self._slots.leave_quick()
            elif self._work is not None:
                self._slots.leave(self._work)
        if self._whole and not tap.over:
            now = self._stage.clock.now()
            self._entry.end("whole", now)
            if (first := self._first_at) is not None and self._finish is not None:
                again = 0 if self._work is None else self._work.admissions - 1
                self._stats.ended.append((self._entry.at, first, now, self._entry.tokens, again))
            tap.journal.settle(self._entry)
            tap.journal.note(now, tap.number, "done")
        tap.disarm()
        if self._finish is not None:
            self._stats.finish(self._finish)
        return self._whole and not tap.over and not self._closing

    async def _play(self, actions: Iterator[Action]) -> None:
        tap, stage = self._tap, self._stage
        for action in actions:
            if isinstance(action, Send):
                if action.tokens:
                    if stage.holds:
                        await self._pause_at("token" if self._entry.tokens else "first token")
                    self._entry.tokens += action.tokens
                    self._stats.generation_tokens += action.tokens
                if action.joins:
                    self._lead += action.data
                else:
                    self._add(action.data)
                if self._size > HIGH_WATER:
                    self._flush()
                    await tap.drain()
            else:
                pending = _DO[type(action)](self, action)
                if pending is not None:
                    await pending
            if tap.over and not self._outlives:
                break

    # --- its end before its time

    def stop(self, how: str) -> None:
        """The engine is to end: the answer is ended early (`abort`), or falls `mute`."""
        if self._told is None and self._task is not None:
            self._told = how
            self._task.cancel()

    async def _told_to_end(self, actions: Iterator[Action]) -> Iterator[Action]:
        """What is still to be performed."""
        if self._task is not None:
            self._task.uncancel()
        if self._told == "mute":
            await self._hold_open(HoldOpen())
        first = self._first_at
        after = -1 if first is None else self._stage.clock.now() - first
        return last_words(actions, Terminated(after))

    # --- bytes

    def _add(self, data: bytes) -> None:
        if self._lead:
            data, self._lead = self._lead + data, b""
        if data and not self._bodyless:
            self._out.append(b"%x\r\n%b\r\n" % (len(data), data) if self._chunked else data)
            self._size += len(data)

    def _flush(self) -> None:
        if self._lead:
            self._add(b"")
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
        self._out.append(
            head_bytes(head, closing=self._closing, http10=self._http10, manner=self._stage.manner)
        )
        now, tap = self._stage.clock.now(), self._tap
        self._entry.answer(head.status, head.headers, now)
        tap.journal.note(now, tap.number, "answers", 0, str(head.status))

    async def _wait(self, wait: Wait) -> None:
        self._flush()
        await self._tap.drain()
        if wait.ns > 0 and (self._outlives or not self._tap.over):
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
        if self._lead:
            self._add(b"")
        if self._chunked and not self._bodyless:
            self._out.append(b"0\r\n\r\n")
        self._finish, self._whole = finish.reason, True

    def _admit(self, admit: Admit) -> Awaitable[None] | None:
        slots = self._slots
        if slots.quick and slots.schedule.count_in():
            self._counted = True
            self._stats.prompt_tokens += admit.prompt_tokens
            self._first_at = self._stage.clock.now()
            return None
        self._work = work = slots.work(*admit)
        slots.schedule.arrive(work)
        self._flush()
        return self._queue(admit)

    async def _queue(self, admit: Admit) -> None:
        assert self._work is not None
        await self._slots.compute(self._work, self._stage.clock)
        self._computed(admit)

    def _computed(self, admit: Admit) -> None:
        """The prompt is computed: the first token is there."""
        self._stats.prompt_tokens += admit.prompt_tokens
        self._first_at = self._stage.clock.now()

    def _grow(self, grow: Grow) -> Awaitable[None] | None:
        work = self._work
        assert work is not None
        if work.ready and grow.tokens <= work.room:
            work.room -= grow.tokens
            work.tokens += grow.tokens
            return None
        self._flush()
        return self._slots.grow(work, grow.tokens, self._stage.clock)

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

    def _rest(self) -> Coroutine[Any, Any, bool]:
        """What an heir performs, with this one's work, whoever leaves."""
        heir = copy.copy(self)
        heir._outlives, heir._out = True, []  # noqa: SLF001 - a copy of this one
        self._work, self._counted = None, False
        return heir.perform(self._actions)

    def _unchunk(self, _: Unchunk) -> None:
        self._chunked = False


_DO: dict[type[Any], Callable[[Player, Any], Awaitable[None] | None]] = {
    **ORDERS,
    Head: Player._head,  # noqa: SLF001 - the table of this class
    Wait: Player._wait,  # noqa: SLF001
    Finish: Player._finished,  # noqa: SLF001
    Admit: Player._admit,  # noqa: SLF001
    Grow: Player._grow,  # noqa: SLF001
    Asleep: Player._asleep,  # noqa: SLF001
    Raw: Player._raw,  # noqa: SLF001
    Unchunk: Player._unchunk,  # noqa: SLF001
}
