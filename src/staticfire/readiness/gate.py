"""Holding a launch: until enough workers are there, cannot be any more, or the time ran out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from staticfire import wire
from staticfire.clock import current
from staticfire.readiness.launch import Need
from staticfire.readiness.settings import Settings
from staticfire.readiness.waiting import Change, Target, wait_for

__all__ = ["Gated", "Process", "wait_at_gate"]


class Process(Protocol):
    """The process of a worker, as far as the machine tells."""

    pid: int
    never: bool
    """There was none when it was looked for first."""

    @property
    def dead(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Gated:
    """How it ended: `why` is open, timeout or dead; `after` is in nanoseconds."""

    why: str
    after: int
    there: tuple[Target, ...]
    missing: tuple[tuple[Target, str], ...]
    """Each worker that is not there, with why."""
    dead: frozenset[str]
    """The URLs of those whose process is known to be dead."""

    @property
    def ok(self) -> bool:
        """Whether the command may start."""
        return self.why == "open"


async def wait_at_gate(
    targets: Sequence[Target],
    need: Need,
    processes: Mapping[str, Process],
    *,
    timeout: float,  # noqa: ASYNC109 - running out is an answer here, with who is missing
    interval: float,
    on_change: Callable[[Change], None],
    settings: Settings,
    headers: Iterable[wire.Header] = (),
) -> Gated:
    """Wait as `need` says. A worker whose process is dead is gone, whoever answers at its URL."""
    room = _Room(targets, need, processes, on_change)
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(
            wait_for(
                targets,
                timeout=timeout,
                interval=interval,
                on_change=room.heard,
                settings=settings,
                headers=headers,
            ),
            name="wait for the workers",
        )
        waiting.add_done_callback(lambda _: room.over.set())
        watching = group.create_task(room.watch(interval), name="watch the workers' processes")
        await room.over.wait()
        waiting.cancel()
        watching.cancel()
    if not waiting.cancelled():
        room.reasons.update((target.url, why) for target, why in waiting.result().missing)
    return room.gated()


class _Room:
    """Who is there, and who is gone for good."""

    def __init__(
        self,
        targets: Sequence[Target],
        need: Need,
        processes: Mapping[str, Process],
        on_change: Callable[[Change], None],
    ) -> None:
        self.over = asyncio.Event()
        self.reasons = dict.fromkeys((target.url for target in targets), "no answer yet")
        self._targets = {target.url: target for target in targets}
        self._need = need
        self._processes = dict(processes)
        self._there: set[str] = set()
        self._gone: set[str] = set()
        self._start = current().now()
        self._on_change = on_change

    async def watch(self, interval: float) -> None:
        """Look at the processes on a steady beat."""
        while self._processes:
            self.bury()
            await asyncio.sleep(interval)

    def heard(self, change: Change) -> None:
        """What the wait says of one worker."""
        if change.target.url not in self._gone and not self.over.is_set():
            self._tell(change)

    def bury(self) -> None:
        """Tell the workers whose process is dead."""
        for url, process in list(self._processes.items()):
            if process.dead:
                del self._processes[url]
                self._gone.add(url)
                why = (
                    f"there is no process {process.pid}"
                    if process.never
                    else (f"its process {process.pid} is dead")
                )
                at = current().now() - self._start
                self._tell(Change(self._targets[url], False, why, 0, len(self._targets), at))
        if self._need.hopeless(self._gone):
            self.over.set()

    def gated(self) -> Gated:
        """How it ended."""
        why = "timeout"
        if self._need.met(self._there):
            why = "open"
        elif self._need.hopeless(self._gone):
            why = "dead"
        return Gated(
            why,
            current().now() - self._start,
            tuple(t for t in self._targets.values() if t.url in self._there),
            tuple((t, self.reasons[u]) for u, t in self._targets.items() if u not in self._there),
            frozenset(self._gone),
        )

    def _tell(self, change: Change) -> None:
        url = change.target.url
        (self._there.add if change.there else self._there.discard)(url)
        self.reasons[url] = change.reason
        self._on_change(replace(change, count=len(self._there)))
        if self._need.met(self._there):
            self.bury()  # the gate does not open for a process that has just died
            if self._need.met(self._there):
                self.over.set()
