"""Engines that a lane starts: services of a state folder of the lane's own, gone with the run."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from staticfire.errors import StaticFireError
from staticfire.readiness.waiting import wait_for
from staticfire.services import logs
from staticfire.services.check import Checker
from staticfire.services.home import Home
from staticfire.services.host import CannotStart, Machine
from staticfire.services.launch import Launcher, plan
from staticfire.services.service import Patience, Service
from staticfire.services.store import Store
from staticfire.services.wait import End, wait
from staticfire.stand.lanes import held
from staticfire.stand.lanes.base import Key

__all__ = ["Served"]

INTERVAL = 0.5
"""Seconds between two looks at an engine that does not serve yet."""

LISTING = 15.0
"""Seconds for a list: nobody else waits, and the first one of some engines takes three."""

SHOWN = 20
"""Lines of its log that an engine which did not come up shows."""


class Served:
    """The engines of one lane. Scenarios run on loops and threads of their own, so nothing of a
    loop is kept here, and the store is opened anew for each of them.
    """

    def __init__(self, *, start_within: float, grace: float, key: Key) -> None:
        self._patience = Patience(
            startup=start_within, startup_at_most=start_within, grace=grace, throttle=INTERVAL,
            probe_deadline=start_within, listing_deadline=LISTING,
        )  # fmt: skip
        self._start_within, self._key = start_within, key
        self._machine = Machine()
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._names: list[str] = []

    async def start(
        self, command: Sequence[str], model: str, environ: Mapping[str, str], folder: str = "",
        *, proven: bool = True,
    ) -> Service:  # fmt: skip
        """Start one and wait until it answers; raises `StaticFireError` with its log when it does not.

        `{port}` in the command is a free port. One that is not `proven` is listed, and was not asked.
        """
        name = f"engine-{len(self._names) + 1}"
        asked = plan(
            name, (*held.words(self._place()), *command), model=model, folder=folder, key_env=self._key.env,
            key_file=self._key.file, patience=self._patience,
        )  # fmt: skip
        with self._store() as store:
            self._names.append(name)
            try:
                service, _ = await Launcher(store, self._machine).serve(asked, environ)
            except CannotStart as error:
                raise StaticFireError(str(error)) from error
            try:
                why = await (self._answers if proven else self._lists)(store, service)
            except BaseException:
                await Launcher(store, self._machine).stop(name)
                raise
            if not why:
                return store.get(name)
            await Launcher(store, self._machine).stop(name)
        said = "\n  ".join(self.log(service)) or "nothing"
        raise StaticFireError(
            f"expected an engine that serves {model} within {self._start_within:g} s, found {why}; "
            f"it said:\n  {said}"
        )

    async def _answers(self, store: Store, service: Service) -> str:
        """Wait until it is ready; else why it is not."""
        checker = Checker(store, self._machine, interval=INTERVAL)
        waited = await wait(checker, service.name, timeout=self._start_within)
        if waited.end is End.READY:
            return ""
        found = waited.checked.service
        return f"{found.status}: {found.life.death or found.readiness.reason}"

    async def _lists(self, store: Store, service: Service) -> str:
        """Wait until it lists its model, or is gone; else why it does not."""
        del store
        headers = self._key.headers
        listed = asyncio.ensure_future(
            wait_for(
                [service.url], until="listed", model=service.model, timeout=self._start_within,
                interval=INTERVAL, headers=headers,
            )
        )  # fmt: skip
        dead = asyncio.ensure_future(self._machine.watch(service, self._start_within))
        try:
            await asyncio.wait((listed, dead), return_when=asyncio.FIRST_COMPLETED)
            if not listed.done():
                return "its process gone"
            waited = listed.result()
            return "" if waited.ok else waited.missing[0][1]
        finally:
            for task in (listed, dead):
                task.cancel()
            await asyncio.gather(listed, dead, return_exceptions=True)

    async def stop(self, service: Service) -> None:
        """End one, with its group."""
        with self._store() as store:
            await Launcher(store, self._machine).stop(service.name)

    def alive(self, service: Service) -> bool:
        """Whether its process still runs."""
        self._machine.refresh()
        with self._store() as store:
            return self._machine.look(store.get(service.name)).alive

    def log(self, service: Service) -> list[str]:
        """The end of what it printed."""
        return logs.tail(Path(service.log), SHOWN)

    def close(self) -> None:
        """End all of them, each with its group; raises what could not be ended."""
        if self._folder is None:
            return
        names, self._names = self._names, []
        if names:
            asyncio.run(self._stop(names))
        self._folder.cleanup()
        self._folder = None

    async def _stop(self, names: Sequence[str]) -> None:
        with self._store() as store:
            launcher = Launcher(store, self._machine)
            await asyncio.gather(*(launcher.stop(n) for n in names if store.find(n) is not None))

    @contextmanager
    def _store(self) -> Iterator[Store]:
        store = Store(Home(Path(self._place()) / "state"))
        try:
            yield store
        finally:
            store.close()

    def _place(self) -> str:
        """The folder of all that is kept, made when first asked for."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="staticfire-lane-")
        return self._folder.name
