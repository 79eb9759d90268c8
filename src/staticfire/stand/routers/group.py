"""A process in a group of its own, which ends when we end it, and when we are gone.

A shell stands between: it starts the command, waits for the end of its standard input, and kills
the whole group. The other end of that pipe is ours, so that Ctrl-C, a crash and `kill -9` of this
process all end the router and whatever it started. Routers rename themselves, so nothing here goes
by a name.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

__all__ = ["Group"]

GUARD = 'own=$1; shift; ( "$@" </dev/null; echo $? >"$own/exit" ) & read -r _; kill -KILL 0'


class Group:
    """One life of a program. Raises nothing for a program that ends by itself: ask `ended`."""

    def __init__(self, arguments: Sequence[str], env: Mapping[str, str], folder: Path) -> None:
        self._exit, self._log = folder / "exit", folder / "log"
        with self._log.open("wb") as log:
            self._guard = subprocess.Popen(  # noqa: S603 - the command under test
                ["/bin/sh", "-c", GUARD, "static fire", str(folder), *arguments],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env=dict(env),
                start_new_session=True,
            )
        assert self._guard.stdin is not None
        self._line: IO[bytes] = self._guard.stdin

    @property
    def pid(self) -> int:
        """Of its shell, which is the number of the group."""
        return self._guard.pid

    def ended(self) -> int | None:
        """The program's exit status, once it has ended by itself."""
        with contextlib.suppress(OSError, ValueError):
            return int(self._exit.read_text())
        return None

    def log(self) -> list[str]:
        """What it printed."""
        return self._log.read_text(errors="replace").splitlines()

    def end(self) -> None:
        """Kill the group: routers have nothing to save, and some take seconds to leave."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._guard.pid, signal.SIGKILL)
        self._guard.wait()
        self._line.close()
