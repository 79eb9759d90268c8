"""Runs a command that ends with the process that wanted it: run as `python -m`.

`PID START FOLDER COMMAND…`: the process of that pid and start time. It may be killed without a word;
then the whole group gets SIGTERM, and SIGKILL a little later, and the folder goes, in which that process
kept what nobody needs any more: records, and the environment with a key in it. The exit status is the
command's.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import time

from staticfire.services.processes import read

__all__ = ["main", "words"]

GRACE = 2.0
"""Seconds between the two signals."""


def words(folder: str) -> list[str]:
    """What goes before a command to tie it, and a folder, to this process."""
    me = read(os.getpid())
    assert me is not None
    return [sys.executable, "-m", __name__, str(me.pid), str(me.start), folder]


def main(pid: int, start: int, folder: str, command: list[str]) -> int:
    """Run `command` until it ends, or that process does."""
    # A handler of ours, which the command does not inherit: it is signalled itself, as our group is.
    signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        holder = os.pidfd_open(pid)
    except ProcessLookupError:
        return 1
    found = read(pid)
    if found is None or found.start != start:
        return 1
    try:
        program = subprocess.Popen(command, stdin=subprocess.DEVNULL)  # noqa: S603 - the lane's
    except OSError as error:
        sys.stderr.write(f"cannot start {command[0]!r}: {(error.strerror or '').lower()}\n")
        return 127
    ended = select.poll()
    for file in (holder, os.pidfd_open(program.pid)):
        ended.register(file, select.POLLIN)
    if holder in {file for file, _ in ended.poll()} and program.poll() is None:
        os.killpg(0, signal.SIGTERM)
        time.sleep(GRACE)
        shutil.rmtree(folder, ignore_errors=True)
        os.killpg(0, signal.SIGKILL)
    code = program.wait()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:]))
