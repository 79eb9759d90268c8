"""Routers that are programs: they start, and nothing of them survives."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from staticfire.clock import NS, current
from staticfire.stand.loops import RealLoop
from staticfire.stand.routers.entry import read_entry
from staticfire.stand.routers.group import Group
from staticfire.stand.routers.process import CannotStart, ProcessFactory

pytestmark = pytest.mark.realtime

FAMILY = "sleep 300 & echo $! > child; echo $$ > parent; wait"
"""A program with a child."""
SERVER = """
import http.server, os, sys
class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(" ".join([str(os.getpid()), *sys.argv[1:]]).encode())
    def log_message(self, *args):
        pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Answers).serve_forever()
"""


def until(condition, within=20.0):
    """Wait for something that another process does."""
    ends = time.monotonic() + within
    while time.monotonic() < ends:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    pytest.fail("it never came")


def number(file):
    """A process id that a program writes."""
    return until(lambda: file.exists() and file.read_text().strip() and int(file.read_text()))


def gone(pid):
    """Whether a process has ended; a zombie has."""
    with contextlib.suppress(OSError):
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat").read_text()
        return stat.rpartition(")")[2].split()[0] == "Z"
    return True


def test_the_end_of_a_group_is_the_end_of_its_children(tmp_path):
    """Whatever the router started goes with it, whatever it calls itself."""
    group = Group(["/bin/sh", "-c", FAMILY], os.environ, tmp_path)
    family = [number(tmp_path / "parent"), number(tmp_path / "child")]
    group.end()
    assert until(lambda: all(gone(pid) for pid in family))


def test_nothing_survives_a_killed_test_run(tmp_path):
    """Of kill -9 nobody hears; the pipe that ends with us tells the router's shell."""
    code = (
        "import os, pathlib, time; from staticfire.stand.routers.group import Group; "
        f"g = Group(['/bin/sh', '-c', {FAMILY!r}], os.environ, pathlib.Path({str(tmp_path)!r})); "
        "time.sleep(300)"
    )
    with subprocess.Popen([sys.executable, "-c", code]) as run:
        family = [number(tmp_path / "parent"), number(tmp_path / "child")]
        run.send_signal(signal.SIGKILL)
        run.wait()
    assert until(lambda: all(gone(pid) for pid in family))


def test_a_program_that_ends_by_itself_tells_its_status(tmp_path):
    """And what it said."""
    group = Group(["/bin/sh", "-c", "echo no such flag; exit 7"], os.environ, tmp_path)
    assert until(lambda: group.ended() is not None and group.ended()) == 7
    assert group.log() == ["no such flag"]
    group.end()


def factory(tmp_path, code=SERVER, **more):
    """A router of a few lines of Python."""
    script = tmp_path / "router.py"
    script.write_text(code)
    line = f"{sys.executable} {script} {{port}} {{workers}}"
    return ProcessFactory(read_entry("mine", {"command": line, **more}, "[mine]"))


@pytest.fixture
def loop():
    made = RealLoop(10.0)
    yield made
    made.close()


def test_a_router_is_started_and_killed_without_costing_scenario_time(tmp_path, loop):
    """Its port answers; afterwards its process and its files are gone (its port may be another's)."""

    async def life():
        router = factory(tmp_path).make(["http://127.0.0.1:9"], {})
        before = current().now()
        current().rate = 100_000  # a millisecond would be 100 seconds
        await router.start()
        took = current().now() - before
        return router, took

    router, took = loop.run(life())
    with urllib.request.urlopen(router.url, timeout=20) as answer:
        pid, _port, worker = answer.read().decode().split()
    folder = router._place.folder
    assert (worker, gone(int(pid))) == ("http://127.0.0.1:9", False)
    loop.run(router.stop())
    assert took < 600 * NS
    assert not folder.exists()
    assert until(lambda: gone(int(pid)))


def test_a_router_that_cannot_start_says_what_it_said(tmp_path, loop):
    """The harness broke, not a promise."""
    router = factory(tmp_path, "raise SystemExit('a flag that I do not know')").make(
        ["http://x:1"], {}
    )
    with pytest.raises(CannotStart, match=r"exited with 1.*\n  a flag that I do not know"):
        loop.run(router.start())
    loop.run(router.stop())
