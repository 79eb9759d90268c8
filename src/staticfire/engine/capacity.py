"""How much an engine can do at once: slots, a queue, the speed of its tokens."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import Literal

from staticfire.errors import WrongInput

__all__ = ["Capacity", "Slots", "admit"]


@dataclass(frozen=True, slots=True)
class Capacity:
    """Limits of a mock engine.

    `slots` requests run at once; `queue` more may wait (None: without bound, as vLLM does unless
    `--max-num-queued-reqs` is set; that flag counts running and waiting together). A request takes
    `first_token` seconds to its first token and `per_token` seconds for each later one.
    """

    slots: int = 256
    queue: int | None = None
    first_token: float = 0.0
    per_token: float = 0.0

    def __post_init__(self) -> None:
        if self.slots < 1:
            raise WrongInput("capacity: slots", expected="at least 1", found=str(self.slots))
        if self.queue is not None and self.queue < 0:
            raise WrongInput("capacity: queue", expected="0 or more", found=str(self.queue))
        for name in ("first_token", "per_token"):
            if getattr(self, name) < 0:
                raise WrongInput(
                    f"capacity: {name}",
                    expected="0 or more seconds",
                    found=f"{getattr(self, name):g}",
                )


def admit(capacity: Capacity, running: int, waiting: int) -> Literal["run", "wait", "shed"]:
    """What happens to a request that comes while so many run and wait."""
    if running < capacity.slots and waiting == 0:
        return "run"
    if capacity.queue is None or waiting < capacity.queue:
        return "wait"
    return "shed"


class Slots:
    """The running and waiting requests of one engine, first come first served."""

    __slots__ = ("_queue", "capacity", "running")

    def __init__(self, capacity: Capacity) -> None:
        self.capacity = capacity
        self.running = 0
        self._queue: deque[asyncio.Future[None]] | None = None

    @property
    def waiting(self) -> int:
        return len(self._queue) if self._queue else 0

    @property
    def full(self) -> bool:
        """Whether the next request is shed."""
        return admit(self.capacity, self.running, self.waiting) == "shed"

    def try_enter(self) -> bool:
        """Take a slot if one is free."""
        if admit(self.capacity, self.running, self.waiting) != "run":
            return False
        self.running += 1
        return True

    async def enter(self) -> None:
        """Wait for a slot; whoever leaves hands it on."""
        if self._queue is None:
            self._queue = deque()
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.leave()  # the slot was handed over in the turn in which the client left
            else:
                self._queue.remove(place)
            raise

    def leave(self) -> None:
        """Free a slot: the next waiting request takes it."""
        while self._queue:
            place = self._queue.popleft()
            if not place.done():
                place.set_result(None)
                return
        self.running -= 1
