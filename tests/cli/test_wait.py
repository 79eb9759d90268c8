"""`staticfire wait` as a process, with budgets of a second or two."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

pytestmark = pytest.mark.realtime


def test_ready_is_zero(staticfire, tmp_path):
    """A service that becomes ready ends the wait; JSON has the last verdict."""
    staticfire.serve("q", "--timeout", "0.1", code=3, UNTIL=str(tmp_path / "now"))
    (tmp_path / "now").touch()
    page = staticfire.json("wait", "q", "--timeout", "10")
    assert (page["outcome"], page["verdict"], page["status"]) == ("ready", "serving", "ready")
    assert staticfire("services", "wait", "q").stdout.startswith("q: ready after ")


def test_running_out_is_six(staticfire):
    """A refused port is start-up: it is waited for to the end."""
    staticfire.serve("q", "--timeout", "0.1", code=3, LATE="30")
    page = staticfire.json("wait", "q", "--timeout", "1", code=6)
    assert (page["outcome"], page["verdict"]) == ("ran_out", "unreachable")
    assert 1.0 <= page["seconds"] < 6.0
    assert "did not answer" in staticfire("wait", "q", "--timeout", "0.6", code=6).stdout


def test_a_death_is_four_at_once(staticfire):
    """With it, not at a next look or at the timeout, and with its last words."""
    page = staticfire.serve("q", "--timeout", "0.5", code=3, LATE="30")
    killed = []

    def kill():
        killed.append(time.monotonic())
        os.kill(page["pid"], signal.SIGKILL)

    threading.Timer(1.0, kill).start()
    done = staticfire("wait", "q", "--timeout", "20", code=4)
    assert time.monotonic() - killed[0] < 5.0
    assert done.stdout.startswith("q: failed: its process is ")
    assert done.stdout.endswith("its last words:\n    the raw engine starts\n")


def test_a_stopped_one_is_four(staticfire):
    """Nobody starts it."""
    staticfire.serve("q")
    staticfire("services", "stop", "q")
    assert staticfire.json("wait", "q", code=4)["status"] == "stopped"


def test_a_url_can_be_waited_for(staticfire):
    """Ready, or it ran out: nobody can tell of a URL that its process is dead."""
    url = staticfire.serve("q")["url"]
    page = staticfire.json("wait", url, "--model", "qwen", "--timeout", "5")
    assert (page["code"], page["verdict"], page["model"]) == (0, "serving", "qwen")
    staticfire("services", "stop", "q")
    page = staticfire.json("wait", url, "--timeout", "0.5", code=6)
    assert (page["verdict"], page["status"]) == ("unreachable", "starting")
    done = staticfire("wait", url, "--timeout", "0.5", code=6)
    assert "expected ready within 0.5 s, found: connection refused" in done.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("x",), "start one with: staticfire serve"),
        (("ftp://x",), "expected a URL"),
        (("x", "--timeout", "-1"), "--timeout"),
    ],
)
def test_a_wrong_call_is_two(staticfire, words, told):
    """What was expected, what was found."""
    assert told in staticfire("wait", *words, code=2).stderr
