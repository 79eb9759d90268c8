"""The tap: a protocol between the loop and aiohttp that journals bytes and plays wire faults.

    socket ⇄ transport ⇄ Tap ⇄ TapTransport ⇄ aiohttp's RequestHandler ⇄ handler

aiohttp never learns of a fault. After its close, `is_closing()` is true and the tap decides when
the socket closes. The tap is armed for exactly one answer at a time with a `Plan` (pace, cuts); an
answer without a plan goes straight through. Bytes that a pace holds back count as unwritten, so
that writers feel them. The first cause of a connection's end is kept.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct

from staticfire.clock import ns
from staticfire.engine.actions import Afterwards
from staticfire.engine.journal import Entry
from staticfire.engine.plan import HIGH_WATER, Plan, next_piece
from staticfire.engine.stand import Stand, Stoppable
from staticfire.engine.transport import TapTransport

__all__ = ["Stand", "Tap"]

LINGER = ns(2.0)
"""How long a half-closed connection is drained, so that unread upload does not make an RST of it."""


class Tap(asyncio.Protocol):
    """One connection of a mock engine."""

    __slots__ = (
        "_app", "_blocked", "_drain", "_idle_at", "_idle_handle", "_linger", "_lost", "_paused",
        "app_closed", "cause", "clock", "entry", "fate", "journal", "keep_open", "number", "over", "plan",
        "player", "real", "stand",
    )  # fmt: skip

    real: asyncio.Transport

    def __init__(self, stand: Stand) -> None:
        self.stand, self.clock, self.journal = stand, stand.clock, stand.journal
        self.number = 0
        self.entry: Entry | None = None
        self.player: Stoppable | None = None
        self.plan: Plan | None = None
        self.fate: Afterwards | None = None
        self.keep_open = self.app_closed = self.over = False
        self.cause: str | None = None
        self._app: asyncio.Protocol | None = None
        self._paused = self._blocked = self._lost = False
        self._drain: asyncio.Future[None] | None = None
        self._idle_at: int | None = None
        self._idle_handle: asyncio.TimerHandle | None = None
        self._linger: asyncio.TimerHandle | None = None

    # --- the kernel's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.real = transport
        stand = self.stand
        if not stand.open:  # it was in the accept queue when the port closed
            self.over, self.cause = True, "closes"
            transport.abort()
            return
        self.number = stand.tap_made(self)
        self.note("connects")
        if not stand.swallows:
            self._app = stand.app()
            self._app.connection_made(TapTransport(self))

    def data_received(self, data: bytes) -> None:
        self._idle_at = None
        self.journal.note(self.clock.now(), self.number, "in", len(data))
        if self._app is not None and not self.over and not self.app_closed:
            self._app.data_received(data)
        elif self.fate is not None and self.fate.how.endswith(" next"):
            self.end(reset=self.fate.how == "resets next")

    def eof_received(self) -> bool | None:
        self.note("client half-closes")
        if self._app is not None and not self.over:
            self._app.eof_received()
        return None

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = self.over = True
        for handle in (self._idle_handle, self._linger):
            if handle is not None:
                handle.cancel()
        if self.cause is None:
            self.cause = "client left"
            self.note("client left", note="" if exc is None else type(exc).__name__)
        if self.entry is not None:
            self.entry.end("client left", self.clock.now())
        self.disarm()
        if self._app is not None:
            self._app.connection_lost(exc)
        self.stand.tap_lost(self.number)

    def pause_writing(self) -> None:
        self._paused = True
        self._feel()

    def resume_writing(self) -> None:
        self._paused = False
        self._feel()

    # --- the answer's side

    def send(self, data: bytes) -> None:
        """Put bytes of the answer on the wire, as its plan says."""
        plan = self.plan
        if plan is None:
            self._put(data)
        elif plan.pace:
            plan.queue += data
            if plan.pump is None:
                self._pump(plan)
            self._feel()
        else:
            self._put_planned(plan, data)

    def arm(self) -> Plan:
        """The plan of the answer that is going on, a fresh one at first."""
        if self.plan is None:
            self.plan = Plan()
        return self.plan

    def cut_after(self, delay: int, *, reset: bool) -> None:
        """End the connection `delay` ns from now."""
        plan = self.arm()
        plan.cut_handle = self.clock.call_at(self.clock.now() + delay, self.end, reset)

    def disarm(self) -> None:
        """The answer is over: the next one is honest unless it is armed again."""
        plan, self.plan = self.plan, None
        if plan is not None:
            for handle in (plan.pump, plan.cut_handle):
                if handle is not None:
                    handle.cancel()
        self._feel()

    @property
    def queued(self) -> int:
        """Bytes that a pace holds back."""
        return 0 if self.plan is None else len(self.plan.queue)

    @property
    def full(self) -> bool:
        """Whether a writer has to wait."""
        return self._blocked

    async def drain(self, *, whole: bool = False) -> None:
        """Wait until there is room to write; with `whole` until nothing is held back."""
        while not self.over and (self._blocked or (whole and self.queued)):
            self._drain = asyncio.get_running_loop().create_future()
            try:
                await self._drain
            finally:
                self._drain = None

    def end(self, reset: bool = False) -> None:
        """We end the connection in the middle: by FIN, lingering, or by RST."""
        if self.over:
            return
        self.over = True
        self._because("resets" if reset else "closes", "a fault")
        if self.entry is not None:
            self.entry.end("reset" if reset else "cut", self.clock.now())
        self.disarm()
        if reset:
            self._reset()
            return
        self.real.resume_reading()
        with contextlib.suppress(OSError):  # the client may be gone already
            self.real.write_eof()
        self._linger = self.clock.call_at(self.clock.now() + LINGER, self.real.close)

    def die(self, *, reset: bool) -> None:
        """The process is gone: what the kernel does with its sockets, or an RST."""
        self.over = True
        self._because("resets" if reset else "closes", "the engine died")
        if self.entry is not None:
            self.entry.end("killed", self.clock.now())
        self.disarm()
        if reset:
            self._reset()
        else:
            self.real.abort()

    def app_close(self) -> None:
        """What aiohttp takes for the close of its transport."""
        if self.app_closed:
            return
        self.app_closed = True
        if not self.over and not self.keep_open and not self.queued:
            self._close("after the answer")

    def rest(self) -> None:
        """An answer is done and the connection idles: the engine's idle time begins."""
        now, fate = self.clock.now(), self.fate
        self._idle_at = now + self.stand.idle
        if fate is not None:
            self._meet(fate)
        if self._idle_handle is None and not self.over:
            self._idle_handle = self.clock.call_at(self._idle_at, self._idle)

    def _meet(self, fate: Afterwards) -> None:
        """An answer that decided what becomes of the connection is whole."""
        if fate.how == "closes":
            self._idle_at = self.clock.now() + fate.ns
            if self._idle_handle is not None:
                self._idle_handle.cancel()
                self._idle_handle = None
        else:  # what comes next is kept from aiohttp, which takes its transport for closed
            self.app_closed = True
            self.keep_open |= fate.how == "silent"

    def freeze(self) -> None:
        """Nothing more of the answer that is going on leaves; its writer stops when it feels it."""
        plan = self.arm()
        if plan.pump is not None:
            plan.pump.cancel()
        plan.pace = plan.every = 1
        plan.pump = self.clock.call_at(self.clock.now(), lambda: None)

    def note(self, what: str, size: int = 0, note: str = "") -> None:
        """Append a row of this connection to the journal."""
        self.journal.note(self.clock.now(), self.number, what, size, note)

    # --- inside

    def _put(self, data: bytes) -> None:
        if not self.over and not self.real.is_closing():
            self.journal.note(self.clock.now(), self.number, "out", len(data))
            self.real.write(data)

    def _put_planned(self, plan: Plan, data: bytes) -> None:
        if plan.cut_at is None:
            self._put(data)
            return
        piece = data[: plan.cut_at - plan.wire]
        plan.wire += len(piece)
        if piece:
            self._put(piece)
        if plan.wire >= plan.cut_at:
            self.end(plan.cut_reset)

    def _pump(self, plan: Plan) -> None:
        plan.pump = None
        while plan.queue and not self.over:
            piece, paced = next_piece(plan)
            self._put_planned(plan, piece)
            if paced:
                due = self.clock.now() + plan.every
                plan.pump = self.clock.call_at(due, self._pump, plan)
                break
        self._feel()
        if self.app_closed and not plan.queue and not self.keep_open and not self.over:
            self._close("after the answer")

    def _feel(self) -> None:
        blocked = not self.over and (self._paused or self.queued > HIGH_WATER)
        if blocked != self._blocked:
            self._blocked = blocked
            if self._app is not None and not self._lost:
                (self._app.pause_writing if blocked else self._app.resume_writing)()
        drain = self._drain
        if drain is not None and not drain.done() and not (blocked or self.queued):
            drain.set_result(None)

    def _idle(self) -> None:
        self._idle_handle = None
        if self._idle_at is None or self.over:
            return
        if self.clock.now() < self._idle_at:
            self._idle_handle = self.clock.call_at(self._idle_at, self._idle)
        elif not self.keep_open:
            self._close("idle")

    def _close(self, why: str) -> None:
        self.over = True
        self._because("closes", why)
        self.real.close()

    def _reset(self) -> None:
        sock = self.real.get_extra_info("socket")
        with contextlib.suppress(OSError):  # the client may be gone already
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.real.abort()

    def _because(self, cause: str, why: str) -> None:
        if self.cause is None:
            self.cause = cause
            self.note(cause, note=why)
