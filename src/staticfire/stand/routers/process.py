"""A router under test that is a program: started for one scenario, killed at its end."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from staticfire.clock import REAL, current, ns
from staticfire.clock.scaled import ScaledClock
from staticfire.errors import StaticFireError, WrongInput, WrongStep
from staticfire.stand.ports import free_ports
from staticfire.stand.routers.entry import Entry
from staticfire.stand.routers.found import BIN, find, version_of
from staticfire.stand.routers.group import Group
from staticfire.stand.routers.prepared import Place, Prepared, prepare

__all__ = ["CannotStart", "ProcessFactory", "ProcessRouter"]

LOOK = 0.01
"""Real seconds between two looks at a port that is not bound yet."""
SHOWN = 20
"""Lines of its log that a router which ended at once shows."""
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


class CannotStart(StaticFireError):
    """The program ended by itself before it bound its port."""


class ProcessRouter:
    """One life of a program. Time stands still while it starts, then runs at its scale."""

    def __init__(self, entry: Entry, prepared: Prepared, place: Place) -> None:
        self.entry, self._prepared, self._place = entry, prepared, place
        self.url = f"http://127.0.0.1:{place.port}"
        own = "{metrics_port}" in entry.command + entry.config
        self.metrics_url = f"http://127.0.0.1:{place.metrics_port}" if own else self.url
        self.readiness, self.liveness = entry.readiness, entry.liveness
        self.session_headers = entry.session_headers
        self.notices = entry.notices * entry.time_scale
        """Scenario seconds within which it has seen a change of a worker."""
        self._group: Group | None = None
        self._over = False

    async def start(self) -> None:
        """Start it; returns when its port is bound, or when `start_within` is over.

        Raises `CannotStart` when it ended instead.
        """
        clock = current()
        if not isinstance(clock, ScaledClock):
            raise WrongStep(f"the router {self.entry.name} is a program: it needs the real clock")
        clock.rate = 0
        try:
            await asyncio.get_running_loop().run_in_executor(None, self._begin)
        finally:
            clock.rate = self.entry.time_scale

    def _begin(self) -> None:
        folder = self._place.folder
        (folder / "config").write_text(self._prepared.config, encoding="utf-8")
        env = {k: v for k, v in os.environ.items() if k.lower() not in PROXIES}
        group = self._group = Group(
            self._prepared.arguments, env | dict(self._prepared.env), folder
        )
        until = REAL.now() + ns(self.entry.start_within)  # the loop's own time stands still
        while not self._over and REAL.now() < until and not _bound(self._place.port):
            status = group.ended()
            if status is not None:
                said = "\n  ".join(group.log()[-SHOWN:]) or "nothing"
                raise CannotStart(
                    f"the router {self.entry.name} exited with {status} before it bound its port; "
                    f"it said:\n  {said}"
                )
            time.sleep(LOOK)

    async def stop(self) -> None:
        """Kill it with whatever it started, remove its files."""
        self._over = True
        if self._group is not None:
            self._group.end()
        shutil.rmtree(self._place.folder, ignore_errors=True)

    def log(self) -> list[str]:
        """What it printed."""
        try:
            return self._group.log() if self._group is not None else []
        except OSError:
            return []


def _bound(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex(("127.0.0.1", port)) == 0


@dataclass(frozen=True, slots=True)
class ProcessFactory:
    """A router that is a program, by name; it is looked for when the run begins."""

    entry: Entry
    folders: tuple[str, ...] = ()
    """Where to look besides PATH."""

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def time_scale(self) -> float:
        """Scenario seconds in a real one."""
        return self.entry.time_scale

    @property
    def capabilities(self) -> frozenset[str]:
        return self.entry.capabilities

    def counting(self) -> ProcessFactory:
        """The same for a scenario that counts attempts."""
        defaults = dict(self.entry.defaults) | dict(self.entry.counting)
        return replace(self, entry=replace(self.entry, defaults=defaults))

    def load(self) -> Path:
        """Where its program lies; raises `WrongInput` when it is not here."""
        found = find(self.entry, self.folders)
        if found is None:
            raise WrongInput(
                f"--router {self.name}",
                expected=f"a program {self.entry.program!r} on PATH, in --router-bin or in {BIN}",
                found="none",
                do=self.entry.install or "install it, or name its path in command",
            )
        return found

    def version(self) -> str:
        """Its exact version, or `unknown`."""
        return version_of(self.entry, self.load())

    def make(
        self, workers: Sequence[str], settings: Mapping[str, Any], model: str = "qwen"
    ) -> ProcessRouter:
        """One life in front of `workers`; raises `Unsupported` for a setting that it has not."""
        program = self.load()
        port, metrics_port = free_ports(2)
        place = Place(port, metrics_port, Path(tempfile.mkdtemp(prefix="staticfire-")))
        try:
            words = {name: str(value) for name, value in settings.items()}
            prepared = prepare(self.entry, workers, words, place, model)
        except BaseException:
            shutil.rmtree(place.folder, ignore_errors=True)
            raise
        arguments = (str(program), *prepared.arguments[1:])
        return ProcessRouter(self.entry, Prepared(arguments, prepared.env, prepared.config), place)
