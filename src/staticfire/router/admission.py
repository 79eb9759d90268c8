"""How many requests are under way at once, and who waits for his turn.

Theory. So many requests hold a slot; the next ones stand in one line, first come first served, for
at most so long; when the line is full a request is refused at once. A slot that is given back goes
to the first in the line, never to one that comes at that moment. A request leaves the line once:
with the slot, when its wait is over, or with its client.

    asks     a slot is free and nobody waits    -> in
             else, and the line has a place     -> stands in the line
             else                               -> refused: full
    gives    somebody waits                     -> the first of the line is in
    back     else                               -> a slot is free

`Line` is pure: no clock, no I/O. `Door` is the asyncio shell around it.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from typing import Literal, Protocol

from staticfire.clock import NS, current
from staticfire.router.errors import Failure

__all__ = ["Door", "Line", "Seen"]

Asked = Literal["in", "waits", "full"]


class Line:
    """Slots and the line before them. A ticket is any number that the caller uses once."""

    __slots__ = ("_waiting", "most", "places", "running")

    def __init__(self, most: int | None, places: int) -> None:
        self.most = most
        """None: every request has a slot."""
        self.places = places
        self.running = 0
        self._waiting: OrderedDict[int, int] = OrderedDict()

    @property
    def waiting(self) -> int:
        """How many stand in the line."""
        return len(self._waiting)

    def ask(self, ticket: int, now: int) -> Asked:
        """A request comes at `now`, in nanoseconds."""
        if self.most is None or (self.running < self.most and not self._waiting):
            self.running += 1
            return "in"
        if len(self._waiting) >= self.places:
            return "full"
        self._waiting[ticket] = now
        return "waits"

    def leave(self, ticket: int) -> bool:
        """A waiter goes without a slot; False when it had left the line already."""
        return self._waiting.pop(ticket, None) is not None

    def give_back(self) -> int | None:
        """A slot comes back: the ticket of the waiter who has it now, or None."""
        if self._waiting:
            return self._waiting.popitem(last=False)[0]
        self.running -= 1
        return None

    def retry_after(self, now: int, at_most: int) -> int:
        """Whole seconds after which asking again is sensible: as long as the first has waited."""
        first = next(iter(self._waiting.values()), now)
        return max(1, -(-min(now - first, at_most) // NS))


class Seen(Protocol):
    """Who is told what admission did."""

    def admission(self, result: str, waited: int) -> None:
        """One request: admitted, waited, full, late or left; nanoseconds in the line."""


@dataclass(slots=True)
class _Waiter:
    since: int
    turn: asyncio.Future[bool]


class Door:
    """Every `enter` that returned None is followed by exactly one `leave`.

    `wait` is how long a request may stand in the line, in nanoseconds.
    """

    def __init__(self, most: int | None, places: int, wait: int, seen: Seen | None = None) -> None:
        self.line = Line(most, places)
        self._wait = wait
        self._seen = seen
        self._waiters: dict[int, _Waiter] = {}
        self._ticket = 0

    def step_in(self) -> bool:
        """Come in where nobody has to wait, as nearly always; else False, and `enter` is for you."""
        line = self.line
        if line.most is None or (line.running < line.most and not line.waiting):
            line.running += 1  # the same as `ask`, without a ticket and a clock
            return True
        return False

    async def enter(self) -> Failure | None:
        """Come in, at once or after a wait; or what to say instead."""
        if self.step_in():
            return None
        line = self.line
        now = current().now()
        ticket = self._ticket = self._ticket + 1
        asked = line.ask(ticket, now)
        if asked == "in":
            return None
        if asked == "full":
            self._tell("full", 0)
            return self._saturated("queue_full", "too many requests are under way or waiting", now)
        return await self._stand(ticket, now)

    def leave(self) -> None:
        """Give the slot back; the first of the line has it now."""
        while (ticket := self.line.give_back()) is not None:
            turn = self._waiters[ticket].turn
            if not turn.done():  # else its client left in this very turn of the loop
                turn.set_result(True)
                return

    async def _stand(self, ticket: int, now: int) -> Failure | None:
        loop = asyncio.get_running_loop()
        waiter = self._waiters[ticket] = _Waiter(now, loop.create_future())
        timer = loop.call_later(self._wait / NS, self._late, ticket)
        try:
            mine = await waiter.turn
        except asyncio.CancelledError:  # the client left
            turn = waiter.turn
            if not self.line.leave(ticket) and not turn.cancelled() and turn.result():
                self.leave()  # its turn came in the very moment in which its client left
            self._tell("left", current().now() - now)
            raise
        finally:
            timer.cancel()
            del self._waiters[ticket]
        waited = current().now() - now
        if mine:
            self._tell("waited", waited)
            return None
        self._tell("late", waited)
        return self._saturated("queue_timeout", "no slot came free in time", current().now())

    def _late(self, ticket: int) -> None:
        if self.line.leave(ticket):
            self._waiters[ticket].turn.set_result(False)

    def _tell(self, result: str, waited: int) -> None:
        if self._seen is not None:
            self._seen.admission(result, waited)

    def _saturated(self, code: str, message: str, now: int) -> Failure:
        return Failure(429, code, message, retry_after=self.line.retry_after(now, self._wait))
