"""What runs on this machine, read from /proc: who a process is, what it listens on.

A pid alone names nobody: it is given out again. A process is told by its pid with its start time,
and what we started carries a nonce in its environment besides, which its children inherit.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

__all__ = ["NONCE", "SERVICE", "STATE", "Process", "Table", "boot_id", "free_port", "io_of", "read"]

NONCE = "STATICFIRE_NONCE"
"""The environment variable that marks one life of one service."""

SERVICE = "STATICFIRE_SERVICE"
"""The one that names the service."""

STATE = "STATICFIRE_STATE"
"""The one that names the state folder with its record."""

DEAD = frozenset("ZXx")
LISTEN = "0A"


@dataclass(frozen=True, slots=True)
class Process:
    """A process at one look. `start` is in clock ticks since the machine started.

    Two looks at one process are equal: its state is what it does at the moment, not who it is.
    """

    pid: int
    state: str = field(compare=False)
    group: int
    session: int
    start: int

    @property
    def alive(self) -> bool:
        """False for a zombie: nothing of it runs any more."""
        return self.state not in DEAD


def boot_id() -> str:
    """What tells this run of the machine from an earlier one."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def read(pid: int) -> Process | None:
    """The process of that pid, zombies included; None when there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    words = text[text.rindex(b")") + 2 :].split()  # a name may hold spaces and brackets
    state, group, session, start = words[0], words[2], words[3], words[19]
    return Process(pid, state.decode("ascii"), int(group), int(session), int(start))


def variable(pid: int, name: str) -> str | None:
    """A variable of a process's environment; "" without it, None when it may not be read."""
    try:
        environ = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return None
    mark = f"{name}=".encode()
    for entry in environ.split(b"\0"):
        if entry.startswith(mark):
            return entry[len(mark) :].decode("utf-8", "replace")
    return ""


def io_of(pid: int) -> int:
    """Bytes that a process has read and written so far, disk and system calls together."""
    try:
        lines = Path(f"/proc/{pid}/io").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    counted = ("rchar", "wchar", "read_bytes", "write_bytes")
    return sum(int(n) for name, _, n in (line.partition(": ") for line in lines) if name in counted)


def sockets_of(pid: int) -> frozenset[int] | None:
    """The inodes of the sockets that a process holds; None when they may not be read."""
    found = set()
    try:
        with os.scandir(f"/proc/{pid}/fd") as files:
            for file in files:
                with contextlib.suppress(OSError):
                    target = os.readlink(file.path)  # noqa: PTH115 - many of them
                    if target.startswith("socket:["):
                        found.add(int(target[8:-1]))
    except OSError:
        return None
    return frozenset(found)


def _pids() -> Iterator[int]:
    with os.scandir("/proc") as entries:
        for entry in entries:
            if entry.name.isdigit():
                yield int(entry.name)


class Table:
    """The processes and the listeners of one instant: one look for many services."""

    @cached_property
    def processes(self) -> dict[int, Process]:
        """Every process that can be seen, zombies included."""
        found = (read(pid) for pid in _pids())
        return {one.pid: one for one in found if one is not None}

    @cached_property
    def nonces(self) -> dict[int, str | None]:
        """The mark of each process, see `variable`."""
        return {pid: variable(pid, NONCE) for pid in self.processes}

    @cached_property
    def listeners(self) -> dict[int, frozenset[int]]:
        """The inodes of the sockets that listen on each TCP port of this machine."""
        found: dict[int, set[int]] = {}
        for name in ("tcp", "tcp6"):
            with contextlib.suppress(OSError):
                lines = Path(f"/proc/net/{name}").read_text(encoding="ascii").splitlines()
                for words in (line.split() for line in lines[1:]):
                    if words[3] == LISTEN:
                        port = int(words[1].rpartition(":")[2], 16)
                        found.setdefault(port, set()).add(int(words[9]))
        return {port: frozenset(inodes) for port, inodes in found.items()}

    def alive(self, pid: int | None, start: int | None) -> bool:
        """True when that very process runs."""
        if pid is None:
            return False
        one = read(pid)
        return one is not None and one.start == start and one.alive

    def members(self, pid: int | None, start: int | None, nonce: str) -> tuple[Process, ...]:
        """All that runs of one life: its session, its group, and whoever left them with our mark."""
        leader = self.processes.get(pid) if pid is not None else None
        sure = leader is not None and leader.start == start
        found = []
        for one in self.processes.values():
            if not one.alive:
                continue
            mark = self.nonces[one.pid]
            near = pid in (one.session, one.group)
            near = near and (sure or (leader is None and mark is None))
            if near or (nonce and mark == nonce):
                found.append(one)
        return tuple(found)

    def orphans(self, known: Collection[str], state: str) -> list[tuple[int, str]]:
        """The processes of a state folder's services by other names than `known`, one a group."""
        found: dict[int, tuple[int, str]] = {}
        for pid, mark in sorted(self.nonces.items()):
            one = self.processes[pid]
            if mark and one.alive and variable(pid, STATE) == state:
                name = variable(pid, SERVICE) or ""
                if name not in known:
                    found.setdefault(one.group, (pid, name))
        return list(found.values())

    def holder(self, port: int, members: tuple[Process, ...]) -> Process | bool | None:
        """Who listens on a port: True for one of `members`, else the other process.

        False for one that hides itself; None when nobody does, or ours cannot be read.
        """
        wanted = self.listeners.get(port, frozenset())
        if not wanted:
            return None
        for one in members:
            held = sockets_of(one.pid)
            if held is None:
                return None
            if held & wanted:
                return True
        hidden = False
        for other in self.processes.values():
            held = sockets_of(other.pid)
            hidden = hidden or held is None
            if held and held & wanted:
                return other
        return False if hidden else None


def free_port() -> int:
    """A port of 127.0.0.1 that nobody holds now."""
    with socket.socket() as asked:
        # Without SO_REUSEPORT: a port that others share is not free.
        asked.bind(("127.0.0.1", 0))
        port: int = asked.getsockname()[1]
    return port
