"""Ctrl-C leaves no process and no socket."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.realtime

FEATURE = """
    Feature: f
      @id:one @realtime
      Scenario: a gate that waits
        Given an engine "never" that refuses
        And an engine "up" that serves
        When the gate is started with a timeout of 60 seconds
        And the world is told
        And 60 seconds pass
"""
STEP = """
    from staticfire.bdd.step import when

    @when("the world is told")
    def _(world):
        port = world.engine("up").port
        with open("told", "w") as file:
            file.write(f"{world.facts['gate process'].pid} {port}")
"""


def until(condition, within=20.0):
    """Wait for something that another process does."""
    ends = time.monotonic() + within
    while time.monotonic() < ends:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    pytest.fail("it never came")


def test_ctrl_c_leaves_no_process_and_no_socket(project):
    """The run says Interrupted; whoever held a socket is gone: pytest itself, and the gate."""
    project.write("conftest.py", STEP)
    project.write("f.feature", FEATURE)
    told = project.path / "told"
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", "--mock-engines", "-q", "-p", "no:randomly",
         "-o", "asyncio_default_fixture_loop_scope=function"],
        cwd=project.path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as run:  # fmt: skip
        until(lambda: told.exists() and told.read_text().count(" ") == 1)
        gate, port = map(int, told.read_text().split())
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            pass
        run.send_signal(signal.SIGINT)
        out, _ = run.communicate(timeout=20)
    assert run.returncode == pytest.ExitCode.INTERRUPTED, out
    with pytest.raises(ProcessLookupError):
        os.kill(gate, 0)
    assert "ResourceWarning" not in out
