"""Whether the process of a worker still runs."""

from __future__ import annotations

import os
import subprocess

import pytest

from staticfire.cli import _process
from staticfire.cli._process import LocalProcess
from staticfire.services import processes


def test_a_process_lives_until_it_ends():
    """Also as a zombie it is dead: nothing of it runs any more."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as child:
        process = LocalProcess(child.pid)
        assert (process.never, process.dead) == (False, False)
        child.stdin.close()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert process.dead
        assert LocalProcess(child.pid).never
    assert process.dead


@pytest.mark.parametrize(
    ("later", "dead"),
    [
        (processes.Process(7, "S", 7, 7, start=100), False),
        (processes.Process(7, "Z", 7, 7, start=100), True),
        (processes.Process(7, "S", 7, 7, start=900), True),
        (None, True),
    ],
)
def test_a_pid_alone_is_nobody(monkeypatch, later, dead):
    """A zombie, a recycled pid and no process are dead; the start time tells."""
    looks = [processes.Process(7, "S", 7, 7, start=100), later]
    monkeypatch.setattr(_process, "read", lambda pid: looks.pop(0))
    process = LocalProcess(7)
    assert not process.never
    assert process.dead is dead
