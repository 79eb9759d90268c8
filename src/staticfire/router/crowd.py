"""Who waits because every worker of the model asked for is at its cap.

One line a model, first come first served. Whenever a capped worker has a place again, the first of
the line is chosen for; also once a second, because a worker may have joined. The lease is made in
that moment and handed over, so that nobody who comes meanwhile can take the place.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from staticfire.clock import NS, current
from staticfire.router.admission import Seen
from staticfire.router.errors import Failure

__all__ = ["FULL", "Crowd"]

FULL = "workers_full"
LOOK_AGAIN = 1.0  # seconds


class Withdrawable(Protocol):
    """A lease that can be given back unused."""

    def withdraw(self) -> None: ...


L = TypeVar("L", bound=Withdrawable)


@dataclass(slots=True)
class _Waiter(Generic[L]):
    choose: Callable[[], L | Failure]
    turn: asyncio.Future[L | Failure]


class Crowd(Generic[L]):
    """At most `places` wait over all models, each for at most `wait` nanoseconds."""

    def __init__(self, places: int, wait: int, seen: Seen | None = None) -> None:
        self.waiting = 0
        self._places = places
        self._wait = wait
        self._seen = seen
        self._lines: dict[str, deque[_Waiter[L]]] = {}
        self._again: asyncio.TimerHandle | None = None

    def queued(self, model: str) -> bool:
        """Whether somebody waits for this model already, whom nobody may overtake."""
        return model in self._lines

    async def stand(
        self, model: str, full: Failure, choose: Callable[[], L | Failure]
    ) -> L | Failure:
        """A lease when it is the caller's turn; `full` with its Retry-After when there is no place."""
        if self.waiting >= self._places:
            self._tell("full", 0)
            return full
        loop = asyncio.get_running_loop()
        began = current().now()
        waiter = _Waiter(choose, loop.create_future())
        self._lines.setdefault(model, deque()).append(waiter)
        self.waiting += 1
        timer = loop.call_later(self._wait / NS, _late, waiter, full)
        self._look_again()
        try:
            found = await waiter.turn
        except asyncio.CancelledError:  # the client left
            if not waiter.turn.cancelled():
                _give_back(waiter.turn.result())
            self._tell("left", current().now() - began)
            raise
        finally:
            timer.cancel()
            self.waiting -= 1
            self._gone(model, waiter)
        self._tell("late" if found is full else "waited", current().now() - began)
        return found

    def freed(self, models: set[str]) -> None:
        """A worker of these models may have a place."""
        for model in (models | {""}) & self._lines.keys():
            for waiter in tuple(self._lines[model]):
                if waiter.turn.done():
                    continue
                found = waiter.choose()
                if isinstance(found, Failure) and found.code == FULL:
                    break
                waiter.turn.set_result(found)

    def stop(self) -> None:
        """Look no more."""
        if self._again is not None:
            self._again.cancel()
            self._again = None

    def _look_again(self) -> None:
        if self._again is None:
            loop = asyncio.get_running_loop()
            self._again = loop.call_later(LOOK_AGAIN, self._look)

    def _look(self) -> None:
        self._again = None
        self.freed(set(self._lines))
        if self._lines:
            self._look_again()

    def _gone(self, model: str, waiter: _Waiter[L]) -> None:
        line = self._lines[model]
        line.remove(waiter)
        if not line:
            del self._lines[model]

    def _tell(self, result: str, waited: int) -> None:
        if self._seen is not None:
            self._seen.admission(result, waited)


def _late(waiter: _Waiter[L], full: Failure) -> None:
    if not waiter.turn.done():
        waiter.turn.set_result(full)


def _give_back(found: Withdrawable | Failure) -> None:
    """Its turn came in the very moment in which its client left."""
    if not isinstance(found, Failure):
        found.withdraw()
