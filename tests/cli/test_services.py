"""`staticfire services` as a process, with budgets of a second or two."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import time

import pytest

from staticfire.services.processes import Table, read

from .conftest import ENGINE, STATICFIRE

pytestmark = pytest.mark.realtime


def test_nothing_is_something(staticfire):
    """An empty list says so."""
    assert staticfire("services", "list").stdout == "no services; nobody supervises them\n"
    page = staticfire.json("services", "list")
    assert (page["services"], page["supervisor"], page["notes"]) == ([], None, [])


def test_the_list(staticfire):
    """Name, status, since, address, model, restarts, why; an honest count; odd names in columns."""
    staticfire.serve("qwen")
    staticfire.serve("🚀/x", "--timeout", "0.2", code=3, LATE="30")
    head, *rows, last = staticfire("services", "list").stdout.splitlines()
    assert head.split() == ["NAME", "STATUS", "FOR", "URL", "MODEL", "RESTARTS", "WHY"]
    assert [row.split()[1] for row in rows] == ["ready", "starting"]
    assert "has not answered yet: connection refused" in rows[1]
    assert last == "2 services: 1 ready, 1 starting; nobody supervises them"


def test_a_list_finds_out_that_one_is_ready(staticfire, tmp_path):
    """Nothing is stuck at `starting` without a supervisor."""
    until = str(tmp_path / "now")
    assert staticfire.serve("q", "--timeout", "0.2", code=3, UNTIL=until)["status"] == "starting"
    (tmp_path / "now").touch()
    end = time.monotonic() + 30
    while staticfire.json("services", "list")["services"][0]["status"] != "ready":
        assert time.monotonic() < end
    assert staticfire.json("services", "show", "q")["smoke_test"] == "passed"


def test_a_list_without_checks_asks_nobody(staticfire):
    """`--within 0` shows what is known, and still who is dead."""
    page = staticfire.serve("q", "--timeout", "0.2", code=3, LATE="30")
    shown = staticfire.json("services", "list", "--within", "0")["services"][0]
    assert (shown["status"], shown["alive"]) == ("starting", True)
    os.kill(page["pid"], signal.SIGKILL)
    shown = staticfire.json("services", "list", "--within", "0")["services"][0]
    assert (shown["status"], shown["alive"]) == ("failed", False)


def test_a_list_restarts_nothing(staticfire):
    """A dead service stays dead, however often it is listed."""
    page = staticfire.serve("q")
    os.kill(page["pid"], signal.SIGKILL)
    for _ in range(3):
        shown = staticfire.json("services", "list")["services"][0]
    assert (shown["status"], shown["life"], shown["restarts"]) == ("failed", 1, 0)


def test_a_torn_record_is_listed(staticfire):
    """Unreadable, with why; beside the others; it can be forgotten."""
    staticfire.serve("q")
    with sqlite3.connect(staticfire.home.store) as store:
        store.execute("INSERT INTO services VALUES ('torn', 1, '{\"name\": \"to', '{}')")
    store.close()
    out = staticfire("services", "list").stdout
    assert "torn  unreadable" in out
    assert "1 service: 1 ready, 1 unreadable" in out
    assert "left as it is" in staticfire("services", "show", "torn", code=2).stderr
    assert staticfire("services", "forget", "torn").stdout == "torn: forgotten\n"


def test_a_damaged_store_is_told_with_who_runs_on(staticfire):
    """Set aside, said on standard error, with the engines that have no record now."""
    pid = staticfire.serve("q")["pid"]
    for path in staticfire.home.path.glob("services.db*"):
        path.write_bytes(b"garbage" * 1000)
    done = staticfire("services", "list")
    assert "it is set aside as services.db.damaged-1" in done.stderr
    assert f"engines that run without a record now: pid {pid} (q)" in done.stderr
    assert staticfire("services", "list").stderr == ""


def test_show_tells_all(staticfire):
    """The facts, the command, the history with its times."""
    staticfire.serve("q")
    out = staticfire("services", "show", "q").stdout
    assert out.startswith("q: ready for ")
    assert "  command      " in out
    assert "Z started: pid " in out
    assert "Z ready: chat answered 200" in out


def test_logs_are_its_words(staticfire):
    """The last lines; `-n` says how many; an older life's log is kept beside."""
    staticfire.serve("q")
    assert staticfire("services", "logs", "q").stdout == "the raw engine starts\n"
    assert staticfire("services", "logs", "q", "-n", "0").stdout == ""
    staticfire("services", "restart", "q")
    assert staticfire.home.log("q").with_name("q.log.1").read_text() == "the raw engine starts\n"


def test_logs_can_be_followed(staticfire):
    """What comes is printed as it comes, over a restart too."""
    staticfire.serve("q")
    follower = staticfire.start("services", "logs", "q", "-f")
    assert follower.stdout is not None
    assert follower.stdout.readline() == "the raw engine starts\n"
    with staticfire.home.log("q").open("a") as log:
        log.write("more\n")
    assert follower.stdout.readline() == "more\n"
    staticfire("services", "restart", "q")
    assert follower.stdout.readline() == "the raw engine starts\n"


def test_stop_ends_everything(staticfire):
    """All processes are gone when it returns; a mistyped name stops none."""
    pids = [staticfire.serve(name)["pid"] for name in ("a", "b")]
    assert "did you mean" in staticfire("services", "stop", "a", "bb", code=2).stderr
    assert all(read(pid) is not None for pid in pids)
    assert staticfire("services", "stop", "a", "b").stdout == "a: stopped\nb: stopped\n"
    table = Table()
    assert not any(pid in table.processes and table.processes[pid].alive for pid in pids)
    page = staticfire.json("services", "list")
    assert [s["status"] for s in page["services"]] == ["stopped", "stopped"]
    assert staticfire("services", "stop", "a").stdout == "a: stopped\n"


def test_a_child_that_ignores_term_is_killed(staticfire):
    """TERM, grace, TERM, KILL: the group is gone, and it took as long as it had to."""
    code = "trap '' TERM; sh -c 'trap \"\" TERM; sleep 60; sleep 60' & sleep 60; sleep 60"
    words = ("serve", "q", "--port", "1", "--timeout", "0", "--grace", "0.2", "--")
    staticfire(*words, "sh", "-c", code, code=3)
    page = staticfire.json("services", "show", "q")
    began = time.monotonic()
    staticfire("services", "stop", "q")
    assert 2.0 <= time.monotonic() - began < 10.0
    sessions = {one.session for one in Table().processes.values() if one.alive}
    assert page["pid"] not in sessions


def test_restart_is_another_process_on_the_same_port(staticfire):
    """The wedged child that held the port is gone first."""
    before = staticfire.serve("q")
    after = staticfire.json("services", "restart", "q", "--timeout", "10")
    assert (after["url"], after["status"], after["life"]) == (before["url"], "ready", 2)
    assert after["pid"] != before["pid"]
    old = read(before["pid"])
    assert old is None or not old.alive


def test_forget_what_is_stopped(staticfire):
    """A running one is refused."""
    staticfire.serve("q")
    assert "stop it first" in staticfire("services", "forget", "q", code=2).stderr
    staticfire("services", "stop", "q")
    assert staticfire("services", "forget", "q").stdout == "q: forgotten\n"
    assert "no services" in staticfire("services", "list").stdout


@pytest.mark.parametrize("words", [("show", "x"), ("logs", "x"), ("stop", "x"), ("restart", "x")])
def test_an_unknown_name_is_two(staticfire, words):
    """With the nearest name, or how to begin."""
    assert "start one with: staticfire serve" in staticfire("services", *words, code=2).stderr


def test_a_full_disk_is_told_once(staticfire):
    """The list still answers; what it found is not remembered, which it says."""
    staticfire.serve("q", "--timeout", "0.2", code=3, LATE="30")
    shell = ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh"]
    done = subprocess.run(
        [*shell, *STATICFIRE, "services", "list", "--json"], capture_output=True, text=True,
        env=staticfire.environ, timeout=30,
    )  # fmt: skip
    page = json.loads(done.stdout)
    assert [s["name"] for s in page["services"]] == ["q"]
    assert done.stderr.count("cannot be written") == 1


def test_a_service_behind_a_key(staticfire, tmp_path):
    """The key goes with the list and the request, is in no record, no output, no log."""
    key = tmp_path / "key"
    key.write_text("open-sesame\n")
    staticfire.serve("q", "--api-key-file", str(key))
    shown = staticfire("services", "show", "q", "--json").stdout
    listed = staticfire("services", "list").stdout
    stored = staticfire.home.store.read_bytes()
    for path in staticfire.home.path.glob("services.db-wal"):
        stored += path.read_bytes()
    assert "open-sesame" not in shown + listed
    assert b"open-sesame" not in stored


def test_the_engines_of_a_list_are_asked_side_by_side(staticfire):
    """Six that hang cost one deadline."""
    hang = [ENGINE[0], "-c", HANG, "{port}"]
    for name in "abcdef":
        staticfire("serve", name, "--timeout", "0", "--", *hang, code=3)
    began = time.monotonic()
    page = staticfire.json("services", "list", "--within", "20")
    assert time.monotonic() - began < 10.0  # a listing has 2 s; in turn they took 12
    assert {s["status"] for s in page["services"]} == {"starting"}


HANG = """
import socket, sys, time
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
time.sleep(60)
"""
