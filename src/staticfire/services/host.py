"""The processes of services on this machine: started, looked at, ended with all their children."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol

from staticfire.clock import NS, current, ns
from staticfire.errors import StaticFireError
from staticfire.readiness.evidence import Identity
from staticfire.services import logs
from staticfire.services.decide import Facts
from staticfire.services.processes import NONCE, SERVICE, Process, Table, io_of, read
from staticfire.services.service import Life, Service

__all__ = ["CannotStart", "Host", "Machine", "Undying", "gone"]

SECOND_GRACE = 2.0
"""From the second TERM to KILL: some engines drain for ever on the first and leave at once on the
second."""

KILLED_WITHIN = 5.0
"""How long the kernel may take over a KILL."""


class CannotStart(StaticFireError):
    """The command of a service cannot be started."""


class Undying(StaticFireError):
    """What is left of a process after KILL."""


class Host(Protocol):
    """Where processes are. Tests have one of mock engines."""

    def refresh(self) -> None:
        """Look anew from here on."""

    def look(self, service: Service) -> Facts:
        """What is to be seen of its process now."""

    def owner(self, service: Service) -> Identity | None:
        """Who listens on its port: its own identity, a foreign one, None where nobody can tell."""

    async def watch(self, service: Service, seconds: float) -> None:
        """Wait so long, or until its process dies."""

    async def start(self, service: Service, environ: Mapping[str, str]) -> tuple[int, int]:
        """Start its command: pid and start time. Raises CannotStart."""

    async def end(self, service: Service) -> None:
        """End all of its processes and see that they are gone. Raises Undying."""


class Machine:
    """The machine that we are on. One look at /proc serves all services until `refresh`."""

    def __init__(self) -> None:
        self._table = Table()
        self._children: dict[int, int] = {}

    def refresh(self) -> None:
        """Look anew."""
        self._table = Table()

    # -- looking

    def look(self, service: Service) -> Facts:
        """See `Host.look`."""
        life = service.life
        log = logs.size(Path(service.log))
        exit_ = self._reap(life)
        if exit_ is not None:
            return Facts(alive=False, death=how_it_ended(exit_), exit=exit_, log=log)
        death = death_of(life)
        if death:
            return Facts(alive=False, death=death, exit=life.exit, log=log)
        io = 0
        if not service.readiness.came_up:
            io = sum(io_of(one.pid) for one in self._members(life))
        return Facts(alive=True, log=log, io=io)

    def owner(self, service: Service) -> Identity | None:
        """See `Host.owner`."""
        if service.port is None or service.life.identity is None:
            return None
        life = service.life
        found = self._table.holder(service.port, self._members(life))
        if found is True or found is None:
            return life.identity if found else None
        # A process that ends has let go of its files before anybody can see that it ends.
        again = Table()
        found = again.holder(service.port, again.members(life.pid, life.start, life.nonce))
        if found is True or found is None or death_of(life):
            return None
        return Identity(found.pid, found.start) if isinstance(found, Process) else Identity(0, 0)

    def _members(self, life: Life) -> tuple[Process, ...]:
        return self._table.members(life.pid, life.start, life.nonce)

    def _reap(self, life: Life) -> int | None:
        """The exit status of a child of ours that has ended."""
        if life.pid is None or self._children.get(life.pid) != life.start:
            return None
        with contextlib.suppress(ChildProcessError):
            pid, status = os.waitpid(life.pid, os.WNOHANG)
            if pid == life.pid:
                del self._children[pid]
                return os.waitstatus_to_exitcode(status)
        return None

    async def watch(self, service: Service, seconds: float) -> None:
        """See `Host.watch`."""
        life = service.life
        if life.pid is None or life.died is not None:
            await asyncio.sleep(seconds)
            return
        found = read(life.pid)
        if found is not None and found.start == life.start and found.alive:
            await gone((found,), seconds)

    # -- doing

    async def start(self, service: Service, environ: Mapping[str, str]) -> tuple[int, int]:
        """See `Host.start`. In a session of its own, its output in its log."""
        path = Path(service.log)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        logs.rotate(path)
        log = logs.opened(path)
        try:
            child = subprocess.Popen(  # noqa: S603, ASYNC220 - what the service is for; exec is quick
                [word.replace("{port}", str(service.port)) for word in service.command],
                cwd=service.folder or None,
                env={**environ, SERVICE: service.name, NONCE: service.life.nonce},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        except OSError as error:
            raise CannotStart(why_not(service, error)) from error
        finally:
            os.close(log)
        child.returncode = 0  # its end is waited for here and by pid: no warning when it is dropped
        found = read(child.pid)
        start = 0 if found is None else found.start
        self._children[child.pid] = start
        self.refresh()
        return child.pid, start

    async def end(self, service: Service) -> None:
        """See `Host.end`: TERM, grace, TERM, KILL to the group; looked at again after each."""
        life = service.life
        if not life.nonce:
            return
        for number, wait in (
            (signal.SIGTERM, service.patience.grace),
            (signal.SIGTERM, SECOND_GRACE),
            (signal.SIGKILL, KILLED_WITHIN),
            (signal.SIGKILL, KILLED_WITHIN),
        ):
            self.refresh()
            left = self._members(life)
            if left:
                tell(left, life, number)
                await gone(left, wait)
            self._reap(life)
        self.refresh()
        left = self._members(life)
        if left:
            named = ", ".join(f"pid {one.pid} (state {one.state})" for one in left)
            raise Undying(f"{service.name}: expected its processes to be gone, found {named}")


def death_of(life: Life) -> str:
    """How a life ended, as a look at its pid shows it; "" while it lives."""
    if life.pid is None:
        return life.death or "it was never started"
    found = read(life.pid)
    if found is None:
        return "its process is gone"
    if found.start != life.start:
        return f"its process is gone; pid {life.pid} is another process now"
    return "" if found.alive else "its process is dead (a zombie)"


def how_it_ended(exit_: int) -> str:
    """An exit status in words."""
    if exit_ >= 0:
        return f"exited with {exit_}"
    try:
        return f"killed by {signal.Signals(-exit_).name}"
    except ValueError:
        return f"killed by signal {-exit_}"


def why_not(service: Service, error: OSError) -> str:
    """Why a command cannot be started: what was expected, what came."""
    command = service.command[0]
    if error.filename == service.folder and service.folder:
        return f"cannot start in {service.folder}: {error.strerror}"
    if isinstance(error, FileNotFoundError):
        return f"cannot start: there is no command {command!r}, or its interpreter is missing"
    return f"cannot start {command!r}: {(error.strerror or str(error)).lower()}"


def tell(processes: Iterable[Process], life: Life, number: signal.Signals) -> None:
    """Send a signal to the group, then to each one that has left it. Each is looked at again."""
    rest = []
    group = False
    for one in processes:
        now = read(one.pid)
        if now is None or now.start != one.start:
            continue
        if now.group == life.pid:
            group = True
        else:
            rest.append(one.pid)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if group and life.pid is not None:
            os.killpg(life.pid, number)
    for pid in rest:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


async def gone(processes: Iterable[Process], within: float) -> None:
    """Wait until all of these are dead, or the seconds are over. The kernel tells, nobody polls."""
    loop = asyncio.get_running_loop()
    files: dict[int, asyncio.Event] = {}
    for one in processes:
        with contextlib.suppress(OSError):
            file = os.pidfd_open(one.pid)
            files[file] = asyncio.Event()
            found = read(one.pid)
            if found is None or found.start != one.start or not found.alive:
                files[file].set()
    end = current().now() + ns(within)
    try:
        for file, over in files.items():
            loop.add_reader(file, over.set)
        for over in files.values():
            left = (end - current().now()) / NS
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), max(0.0, left))
    finally:
        for file in files:
            loop.remove_reader(file)
            os.close(file)
