"""An event loop whose time stands still while code runs and jumps while everything waits.

Real sockets, one thread. When nothing is readable, the loop's time jumps to the next timer's own
due time. No grace wait is needed: on loopback every byte written is readable at each jump
(measured over 23,881 journal rows). What would look idle without being idle holds the jump: a
connect that has not completed, a job in an executor.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import selectors
import socket
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import Context
from datetime import UTC, datetime
from typing import Any, TypeVar, TypeVarTuple, Unpack

from staticfire.clock import NS, ns
from staticfire.errors import StaticFireError

__all__ = ["BACKLOG", "Stuck", "VirtualClock", "VirtualLoop", "run"]

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

BACKLOG = 4096
"""A full accept queue drops the SYN, which comes back after a real second (335 connects at once
with a backlog of 128 gave 206 false timeouts)."""

PATIENCE = 3.0
"""Real seconds that a pending connect or job may hold the clock."""

EMPTY_TURNS = 100_000
"""Turns of the loop without a byte moving, after which the scenario is spinning."""

EPOCH = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
"""Where virtual wall time starts, so that dates in journals are equal in every run."""


class Stuck(StaticFireError, RuntimeError):
    """The scenario cannot go on: nothing moves, it spins, or its time budget is used up."""


class _Timer(asyncio.TimerHandle):
    """A timer ordered by due time, then lifecycle first, then the order in which it was set."""

    __slots__ = ("order",)

    order: tuple[int, int, int]
    _scheduled: bool  # asyncio's own bookkeeping of its heap

    def __lt__(self, other: object) -> bool:
        return self.order < other.order if isinstance(other, _Timer) else NotImplemented


class VirtualClock:
    """The clock of a `VirtualLoop`."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop
        self._set_by = 0.0

    def now(self) -> int:
        return self._loop.now_ns

    def wall(self) -> float:
        return EPOCH + self._set_by + self._loop.now_ns / NS

    def set_wall(self, by: float) -> None:
        """Set the clock that people read, by so many seconds: spans of time stay as they are."""
        self._set_by += by

    def boot(self) -> int:
        return self._loop.now_ns

    def call_at(
        self, when: int, callback: Callable[..., object], *args: Any, first: bool = False
    ) -> asyncio.TimerHandle:
        return self._loop.call_at_ns(when, callback, *args, first=first)


class _Selector(selectors.DefaultSelector):
    loop: VirtualLoop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        events = super().select(0)
        if events:
            self.loop.empty_turns = 0
            return events
        if timeout is None or timeout > 0:
            if self.loop.pending:
                return self._await_pending()
            self.loop.jump()
        self.loop.count_empty_turn()
        return events

    def _await_pending(self) -> list[tuple[selectors.SelectorKey, int]]:
        patience_ends = time.monotonic() + PATIENCE
        while time.monotonic() < patience_ends:
            events = super().select(patience_ends - time.monotonic())
            if events:
                return events
        names = ", ".join(self.loop.pending.values())
        self.loop.pending.clear()
        raise Stuck(
            f"{PATIENCE:g} real seconds passed and this is still pending: {names}; in virtual "
            f"time a connect must reach a listener of this process and a job must end by itself"
        )


class VirtualLoop(asyncio.SelectorEventLoop):
    """A selector loop in virtual time; see the module's first lines for its rules.

    Raises `Stuck` out of `run_until_complete`, once for each cause, so that clean-up can run.
    """

    _scheduled: list[_Timer]  # asyncio's heap of timers (private, the same in 3.11, 3.12 and 3.13)

    def __init__(self) -> None:
        selector = _Selector()
        selector.loop = self
        self.now_ns = 0
        self.empty_turns = 0
        self.pending: dict[object, str] = {}
        self.staticfire_clock = VirtualClock(self)
        self._deadline_ns: int | None = None
        self._budget = 0.0
        self._order = itertools.count()
        self._swallowing: set[tuple[str, int]] = set()
        super().__init__(selector)
        self._clock_resolution = 0.1 / NS  # timers fall due exactly, never a nanosecond early

    # --- time

    def time(self) -> float:
        return self.now_ns / NS

    def call_at_ns(
        self,
        when: int,
        callback: Callable[..., object],
        *args: Any,
        first: bool = False,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        self._check_closed()  # type: ignore[attr-defined]  # private, as in asyncio
        timer = _Timer(when / NS, callback, args, self, context)
        timer.order = (when, 0 if first else 1, next(self._order))
        heapq.heappush(self._scheduled, timer)
        timer._scheduled = True  # noqa: SLF001 - what asyncio's own `call_at` does
        return timer

    def call_at(
        self,
        when: float,
        callback: Callable[[Unpack[Ts]], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        return self.call_at_ns(ns(when), callback, *args, context=context)

    def jump(self) -> None:
        """Move time to the next timer's due time."""
        if not self._scheduled:
            raise Stuck(f"nothing can happen any more: no timer, no byte to read; {self.waiting()}")
        due = self._scheduled[0].order[0]
        if self._deadline_ns is not None and due > self._deadline_ns:
            self._deadline_ns = None
            raise Stuck(
                f"the step used up its budget of {self._budget:g} virtual seconds; {self.waiting()}"
            )
        self.now_ns = max(self.now_ns, due)

    def count_empty_turn(self) -> None:
        self.empty_turns += 1
        if self.empty_turns > EMPTY_TURNS:
            self.empty_turns = 0
            raise Stuck(f"{EMPTY_TURNS:,} turns went by without a byte moving; {self.waiting()}")

    @contextmanager
    def budget(self, seconds: float) -> Iterator[None]:
        """Limit how much virtual time may pass inside, in seconds."""
        self._deadline_ns, self._budget = self.now_ns + ns(seconds), seconds
        self.empty_turns = 0
        try:
            yield
        finally:
            self._deadline_ns = None

    def waiting(self) -> str:
        """The waiting tasks, by name and place."""
        lines = []
        for task in sorted(asyncio.all_tasks(self), key=asyncio.Task.get_name):
            stack = task.get_stack(limit=1)
            place = f" at {stack[-1].f_code.co_qualname}:{stack[-1].f_lineno}" if stack else ""
            lines.append(f"{task.get_name()}{place}")
        return f"waiting: {'; '.join(lines) or 'no task'}"

    # --- what looks idle and is not

    @contextmanager
    def _holding(self, what: str) -> Iterator[None]:
        token = object()
        self.pending[token] = what
        try:
            yield
        finally:
            self.pending.pop(token, None)

    def swallow(self, address: tuple[str, int], *, swallow: bool = True) -> None:
        """Let connects to `address` park in virtual time: an engine that swallows connects."""
        (self._swallowing.add if swallow else self._swallowing.discard)(address)

    async def sock_connect(self, sock: socket.socket, address: Any) -> None:
        if isinstance(address, tuple) and address[:2] in self._swallowing:
            await self.create_future()
        with self._holding(f"a connect to {address}"):
            await super().sock_connect(sock, address)

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Callable[..., T], *args: Any
    ) -> asyncio.Future[T]:
        future: asyncio.Future[T] = super().run_in_executor(executor, func, *args)
        token = object()
        self.pending[token] = f"the job {getattr(func, '__qualname__', func)!s}"
        future.add_done_callback(lambda _: self.pending.pop(token, None))
        return future

    async def shutdown_default_executor(self, *args: Any, **kwargs: Any) -> None:
        with self._holding("the executor's shutdown"):
            await super().shutdown_default_executor(*args, **kwargs)

    # --- what this loop does otherwise

    async def create_server(self, *args: Any, backlog: int = BACKLOG, **kwargs: Any) -> Any:
        return await super().create_server(*args, backlog=max(backlog, BACKLOG), **kwargs)

    async def subprocess_exec(self, *_: Any, **__: Any) -> Any:
        raise Stuck("a subprocess does not live in virtual time: use the real clock (@realtime)")

    async def subprocess_shell(self, *_: Any, **__: Any) -> Any:
        await self.subprocess_exec()


def run(main: Coroutine[Any, Any, T], *, budget: float = 7200.0) -> T:
    """Run a coroutine in virtual time on a loop of its own.

    `budget` is in virtual seconds. Raises `Stuck`, also for tasks that `main` leaves behind.
    """
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, VirtualLoop)
        with loop.budget(budget):
            result = runner.run(main)
        left = sorted(task.get_name() for task in asyncio.all_tasks(loop))
        if left:
            raise Stuck(f"tasks were left running: {', '.join(left)}")
        return result
