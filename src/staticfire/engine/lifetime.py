"""A life being lived: the walk through its phases, the port that opens and closes with them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from staticfire.clock import Clock
from staticfire.engine.ask import ENDPOINTS
from staticfire.engine.holds import Hold
from staticfire.engine.journal import Journal
from staticfire.engine.life import Walk, after_request, next_edge, phase_of, skip, step
from staticfire.engine.outliving import Outliving
from staticfire.engine.phases import Dead, Draining, Loading, Phase, Sleeping
from staticfire.engine.port import Port
from staticfire.engine.reading import reading
from staticfire.engine.tap import Tap

__all__ = ["Lifetime"]


class Lifetime:
    """Where an engine stands in its life; phases begin at their exact instant.

    One timer is set, for the next edge, as a lifecycle event: it fires before everything else that
    is due then. Whoever asks in between gets the phase of the instant, timer or not.
    """

    def __init__(self, clock: Clock, port: Port, journal: Journal) -> None:
        self.clock, self.port, self.journal = clock, port, journal
        self.taps: dict[int, Tap] = {}
        self.holds: dict[str, Hold] = {}
        self.outliving = Outliving()
        self.generation = 1
        self.tap: Callable[[], asyncio.Protocol] | None = None
        """Makes the protocol of a new connection; None before the start and after the stop."""
        self._walk = Walk((Dead(),), 0)
        self._edge: int | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.slow = False
        """Whether the phase reads some requests slowly; kept here, as requests ask each time."""
        self._has_listened = False
        self._asleep = self._paused = self._stuck = False
        self.lazy = False
        """Whether inference waits while the model loads."""
        self._sleepers: list[asyncio.Future[None]] = []

    # --- phases

    def live(self, life: Sequence[Phase]) -> None:
        """Begin a life now, in place of the one that is going on."""
        self._enter(Walk(tuple(life), self.clock.now()))
        self.turn()

    def phase(self) -> Phase:
        """The phase at this instant."""
        if self._edge is not None and self.clock.now() >= self._edge:
            self.turn()
        return phase_of(self._walk)

    def took_request(self) -> None:
        """One more inference request was taken in this phase."""
        self._walk = after_request(self._walk)
        if phase_of(self._walk).requests is not None:
            self.turn()

    def turn(self) -> None:
        """Apply every phase that has begun by now and set the timer for the next edge."""
        if self.tap is None:
            return
        now = self.clock.now()
        released = {name for name, hold in self.holds.items() if hold.released}
        while (following := step(self._walk, now, released)) is not None:
            self._enter(following)
        self._cancel_timer()
        self._edge = next_edge(self._walk)
        if self._edge is not None:
            self._timer = self.clock.call_at(self._edge, self.turn, first=True)
        if self._sleepers and not self.hangs:
            self._wake_sleepers()

    def end(self) -> None:
        """Drop every connection and give the port back."""
        self.tap = None
        self._cancel_timer()
        self._edge = None
        self.port.release()
        self._drop(reset=False)
        self._wake_sleepers()

    # --- sleep and pause

    @property
    def asleep(self) -> bool:
        return self._asleep or isinstance(phase_of(self._walk), Sleeping)

    @property
    def paused(self) -> bool:
        return self._paused

    @property
    def hangs(self) -> bool:
        """Whether inference waits for `awake`."""
        if self._paused or self._stuck or self.asleep:
            return True
        return self.lazy and self.loading

    @property
    def loading(self) -> bool:
        return isinstance(phase_of(self._walk), Loading)

    def sleep(self, level: int) -> None:
        self._asleep = True
        self._note("sleeps", f"level {level}")

    def wake(self) -> None:
        """End the sleep that a request asked for, and a sleeping phase."""
        self._asleep = False
        self._note("wakes")
        if isinstance(phase_of(self._walk), Sleeping):
            self._enter(skip(self._walk, self.clock.now()))
        self.turn()

    def pause(self, *, on: bool) -> None:
        self._paused = on
        self._note("pauses" if on else "resumes")
        self.turn()

    def lose_scheduler(self) -> None:
        """Inference hangs from now on, for the rest of this process."""
        self._stuck = True
        self._note("loses its scheduler")

    def refresh(self) -> None:
        """A new process knows nothing of an older one's sleep."""
        self._asleep = self._paused = self._stuck = False

    async def awake(self) -> None:
        """Wait until the engine neither sleeps nor is paused."""
        while self.hangs:
            sleeper: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._sleepers.append(sleeper)
            await sleeper

    # --- inside

    def _enter(self, walk: Walk) -> None:
        if self.tap is None:
            return
        self._walk = walk
        phase = phase_of(walk)
        self.slow = any(reading(phase.does(endpoint)) is not None for endpoint in ENDPOINTS)
        if not phase.listens:
            if self.port.open:
                self._note("dies")
            self.port.close()
            self._stuck = False
            self._drop(reset=isinstance(phase, Dead) and phase.reset)
        elif isinstance(phase, Draining) and phase.refuses:
            self.port.close()
        elif not self.port.open:
            if self._has_listened:
                self.generation += 1
            self._has_listened = True
            self.port.listen(self.tap)
        self._note("phase", phase.name)

    def _drop(self, *, reset: bool) -> None:
        for tap in list(self.taps.values()):
            tap.die(reset=reset)
        self.outliving.end()

    def _wake_sleepers(self) -> None:
        sleepers, self._sleepers = self._sleepers, []
        for sleeper in sleepers:
            if not sleeper.done():
                sleeper.set_result(None)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _note(self, what: str, note: str = "") -> None:
        self.journal.note(self.clock.now(), 0, what, 0, note)
