"""`staticfire supervise` as a process, with budgets of a second or two."""

from __future__ import annotations

import json
import os
import signal
import time

import pytest

from staticfire.services.store import Store

pytestmark = pytest.mark.realtime


def lives(staticfire, wanted: int, name: str = "q", seconds: float = 15.0) -> None:
    """Wait until it was started so often."""
    end = time.monotonic() + seconds
    store = Store(staticfire.home)
    while (life := store.get(name).life).number < wanted or life.pid is None:
        assert time.monotonic() < end, life
        time.sleep(0.02)
    store.close()


def test_kill_9_and_it_comes_back(staticfire):
    """Another process on the same port, counted; the supervisor ends at SIGTERM, the engine not."""
    before = staticfire.serve("q")
    keeper = staticfire.start("supervise", "--tick", "0.2", "--json")
    assert keeper.stdout is not None
    assert json.loads(keeper.stdout.readline())["pid"] == keeper.pid
    os.kill(before["pid"], signal.SIGKILL)
    lives(staticfire, 2)
    after = staticfire.json("wait", "q", "--timeout", "10")
    assert (after["status"], after["restarts"], after["url"]) == ("ready", 1, before["url"])
    keeper.send_signal(signal.SIGTERM)
    out, err = keeper.communicate(timeout=10)
    assert (keeper.returncode, err) == (0, "")
    told = [json.loads(line)["text"] for line in out.splitlines()]
    assert "it is started again in 1 s" in told
    assert staticfire.json("services", "show", "q")["alive"]


def test_a_child_of_the_supervisor_has_an_exit_status(staticfire):
    """What it started itself it can tell the end of."""
    page = staticfire.serve("q")
    keeper = staticfire.start("supervise", "--tick", "0.2")
    os.kill(page["pid"], signal.SIGKILL)
    lives(staticfire, 2)
    page = staticfire.json("wait", "q", "--timeout", "10")
    os.kill(page["pid"], signal.SIGTERM)
    lives(staticfire, 3)
    history = staticfire("services", "show", "q").stdout
    assert "failed: killed by SIGTERM after" in history
    keeper.kill()


def test_one_supervisor_a_state_folder(staticfire):
    """The second is told who is at work; kill -9 of the first makes room at once."""
    keeper = staticfire.start("supervise")
    assert keeper.stdout is not None
    assert keeper.stdout.readline().startswith("keeping the services of ")
    done = staticfire("supervise", code=1)
    assert f"found pid {keeper.pid}; stop that one first" in done.stderr
    assert staticfire.json("services", "list")["supervisor"] == keeper.pid
    keeper.kill()
    keeper.wait()
    assert staticfire.json("services", "list")["supervisor"] is None


def test_a_stop_under_a_supervisor_stays(staticfire):
    """Stopped is stopped, while the same supervisor starts another; a restart is kept again."""
    staticfire.serve("q")
    other = staticfire.serve("other")
    keeper = staticfire.start("supervise", "--tick", "0.1")
    assert keeper.stdout is not None
    assert keeper.stdout.readline().startswith("keeping the services of ")
    staticfire("services", "stop", "q")
    os.kill(other["pid"], signal.SIGKILL)
    lives(staticfire, 2, "other")  # so it has looked at both, more than once
    page = staticfire.json("services", "show", "q")
    assert (page["status"], page["life"], page["restarts"]) == ("stopped", 1, 0)
    page = staticfire.json("services", "restart", "q", "--timeout", "10")
    assert (page["status"], page["restarts"]) == ("ready", 0)
