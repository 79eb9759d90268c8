"""Keeping services: all of them side by side, each on its own time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

from staticfire.clock import NS, current, ns
from staticfire.errors import StaticFireError
from staticfire.services import logs
from staticfire.services.check import Checker
from staticfire.services.decide import Do, decide, settled
from staticfire.services.host import Host
from staticfire.services.launch import Launcher, silent
from staticfire.services.store import Store

__all__ = ["Supervisor"]


class Supervisor:
    """Looks at each service every `tick` seconds: a slow one holds no other up.

    Only a dead process, and a start-up budget used up before the first listing, make it restart
    anything. `say` is told of each change, by the service's name.
    """

    def __init__(
        self,
        store: Store,
        host: Host,
        *,
        names: Collection[str] = (),
        tick: float = 5.0,
        say: Callable[[str, str], None] | None = None,
    ) -> None:
        self.store = store
        self.host = host
        self.names = frozenset(names)
        self.span = ns(tick)
        self.checker = Checker(store, host)
        self.launcher = Launcher(store, host, say)
        self._say = say or silent
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._told: dict[str, str] = {}

    async def run(self) -> None:
        """Keep them until cancelled; the services live on."""
        clock = current()
        due = clock.now()
        try:
            while True:
                self.look()
                due = max(due + self.span, clock.now())
                await asyncio.sleep((due - clock.now()) / NS)
        finally:
            tasks = list(self._tasks.values())
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def look(self) -> list[asyncio.Task[None]]:
        """Begin a look at every service that is not being looked at; the looks under way."""
        self.host.refresh()
        for service in self.store.all():
            name = service.name
            if (self.names and name not in self.names) or name in self._tasks:
                continue
            task = asyncio.create_task(self._tend(name), name=f"tend {name}")
            self._tasks[name] = task
            task.add_done_callback(partial(self._over, name))
        return list(self._tasks.values())

    async def _tend(self, name: str) -> None:
        try:
            await self.tend(name)
        except (StaticFireError, OSError) as error:
            self._tell(name, str(error))

    async def tend(self, name: str) -> None:
        """One look: a check, then what is to be done."""
        clock = current()
        end = clock.now() + self.span
        service = (await self.checker.check(name)).service
        self._tell(name, f"{service.status}: {service.readiness.reason}")
        now = clock.boot()
        if settled(service, now) != service:
            self.store.change(name, lambda s: settled(s, now))
        logs.trim(Path(service.log))
        decision = decide(service, now)
        while decision.do is not Do.NOTHING:
            done = await self.launcher.keep(name)
            if done.do is Do.NOTHING:
                return
            decision = decide(self.store.get(name), clock.boot())
            if decision.do is Do.NOTHING and decision.at is not None:
                pause = decision.at - clock.boot()
                if clock.now() + pause < end:  # due before the next look
                    await asyncio.sleep(max(0, pause) / NS)
                    decision = decide(self.store.get(name), clock.boot())

    def _over(self, name: str, task: asyncio.Task[None]) -> None:
        if self._tasks.get(name) is task:
            del self._tasks[name]

    def _tell(self, name: str, text: str) -> None:
        if self._told.get(name) != text:
            self._told[name] = text
            self._say(name, text)
