"""`staticfire serve` as a process, with budgets of a second or two."""

from __future__ import annotations

import os
import re
import signal
import socket
import sys
import time

import pytest

from staticfire.services.store import Store

from .conftest import ENGINE

pytestmark = [
    pytest.mark.realtime,
    pytest.mark.skipif(sys.platform != "linux", reason="services read /proc"),
]


def python(code: str) -> list[str]:
    return [sys.executable, "-u", "-c", code]


def test_ready_is_zero(staticfire):
    """The engine answered the smoke test; it outlives the command, in a session of its own."""
    page = staticfire.serve("qwen", "--model", "qwen")
    assert (page["status"], page["outcome"], page["code"]) == ("ready", "ready", 0)
    assert (page["smoke_test"], page["model"], page["already_running"]) == ("passed", "qwen", False)
    assert page["answered_in"] >= 0
    assert os.getsid(page["pid"]) == page["pid"]


@pytest.mark.parametrize(("words", "latch"), [([], 300.0), (["--latch", "forever"], None)])
def test_the_latch_is_kept_with_the_service(staticfire, words, latch):
    """Whoever checks it later goes by what `serve` was told."""
    staticfire.serve("qwen", *words)
    store = Store(staticfire.home)
    assert store.get("qwen").patience.latch == latch
    store.close()


def test_the_report_for_people(staticfire):
    """The status first; then where it is, what proved it, when it is looked at again."""
    done = staticfire("serve", "qwen", "--", *ENGINE)
    first, *rows = done.stdout.splitlines()
    assert first.startswith("qwen: ready after ")
    facts = dict(row.strip().split(maxsplit=1) for row in rows)
    assert facts["url"].startswith("http://127.0.0.1:")
    assert facts["model"] == "qwen"
    assert "smoke test   passed" in done.stdout
    assert "nobody supervises it" in done.stdout


def test_not_answering_yet_is_three(staticfire):
    """It did not answer in the start-up window; no smoke test ran, its rows read n/a."""
    done = staticfire("serve", "q", "--timeout", "0.3", "--", *ENGINE, code=3, LATE="30")
    assert "q: starting: not ready yet after" in done.stdout
    assert "it did not answer in the start-up window (connection refused)" in done.stdout
    assert "smoke test   n/a: none ran" in done.stdout
    assert "answered     n/a" in done.stdout
    assert "next check   with the next `staticfire services list`" in done.stdout


def test_answering_but_not_serving_is_three(staticfire):
    """It answers but cannot serve yet, with what it says; the next check is named."""
    staticfire.up("q", STATUS="503")
    done = staticfire("serve", "q", "--timeout", "0.8", "--", *ENGINE, code=3)
    assert "q: running: not ready yet after" in done.stdout
    assert "it answers but cannot serve yet (chat answered 503: busy" in done.stdout
    assert "smoke test   n/a: none ran" in done.stdout
    assert "next check   with the next `staticfire services list`" in done.stdout


def test_a_command_that_dies_is_four_at_once(staticfire):
    """Exit status and last words of a child that dies in 200 ms; the record says failed."""
    began = time.monotonic()
    code = "import time; time.sleep(0.2); print('no GPU here'); raise SystemExit(3)"
    done = staticfire("serve", "q", "--port", "1", "--timeout", "20", "--", *python(code), code=4)
    assert time.monotonic() - began < 15
    assert re.match(r"q: failed: exited with 3 after \d+\.\d s", done.stdout)
    assert done.stdout.splitlines()[-2:] == ["  its last words:", "    no GPU here"]
    assert staticfire.json("services", "show", "q")["status"] == "failed"
    assert staticfire.serve("q")["life"] == 2


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["no-such-command-here"], "there is no command 'no-such-command-here'"),
        (["/etc/passwd"], "permission denied"),
    ],
)
def test_a_command_that_cannot_start_is_four(staticfire, command, words):
    """Told at once, and the record is kept."""
    done = staticfire("serve", "q", "--port", "1", "--", *command, code=4)
    assert done.stdout.startswith("q: failed: cannot start")
    assert words in done.stdout
    assert staticfire.json("services", "show", "q")["status"] == "failed"


@pytest.mark.parametrize(
    ("environ", "words"),
    [({"STATUS": "400"}, "the wrong model came up"), ({"MODEL": "other"}, "qwen is not listed")],
)
def test_a_wrong_model_is_told_from_a_slow_one(staticfire, environ, words):
    """Never reported as working: within the window it is coming up, with the refusal as reason."""
    options = ("--model", "qwen", "--timeout", "1")
    staticfire.up("q", "--model", "qwen", **environ)
    page = staticfire.serve("q", *options, code=3)
    assert page["status"] in ("running", "starting")
    assert words in page["reason"]
    assert page["smoke_test"] is None


def test_a_port_of_somebody_else(staticfire):
    """A command that dies because another holds its port: its own words, exit 4."""
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = str(holder.getsockname()[1])
        page = staticfire.serve("q", "--port", port, code=4)
    assert page["status"] == "failed"
    assert any("Address already in use" in line for line in page["log_tail"])


def test_a_foreign_server_is_never_reported_as_ours(staticfire):
    """Our process lives and does not listen, another serves the same model on its port."""
    theirs = staticfire.serve("theirs")
    words = ("serve", "ours", "--port", theirs["url"].rpartition(":")[2], "--timeout", "5", "--")
    done = staticfire(*words, "sleep", "60", code=5)
    assert "misconfigured: not our process: pid" in done.stdout


def test_the_same_again_is_the_same(staticfire):
    """It is running already: no second process; another command is refused."""
    first = staticfire.serve("q")
    again = staticfire.serve("q")
    assert (again["pid"], again["already_running"]) == (first["pid"], True)
    done = staticfire("serve", "q", "--", "sleep", "60", "{port}", code=2)
    assert "stop it first, or take another name" in done.stderr


@pytest.mark.parametrize("name", ["a/b", "../x", "quo'te\"d", "🚀 späť", "x" * 200])
def test_any_name_will_do(staticfire, name):
    """Slashes, quotes, emoji: served, shown, logged and stopped by that name."""
    page = staticfire.serve(name)
    assert page["name"] == name
    assert staticfire("services", "logs", name).stdout == "the raw engine starts\n"
    assert staticfire("services", "stop", name).stdout == f"{name}: stopped\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("q",), "expected a command after --"),
        (("q", "--", "sleep", "1"), "write {port} where the command takes its port"),
        (("q\n", "--", "x", "{port}"), "service name: expected a name"),
        (("", "--", "x", "{port}"), "service name: expected a name"),
        (("q", "--url", "x", "--", "x"), "--url: expected a URL"),
        (("q", "--timeout", "-1", "--", "x", "{port}"), "--timeout"),
        (("q", "--api-key-env", "A", "--api-key-file", "b", "--", "true", "{port}"), "both"),
    ],
)
def test_a_wrong_call_is_two(staticfire, words, told):
    """What was expected, what was found; nothing is started."""
    done = staticfire("serve", *words, code=2)
    assert told in done.stderr
    assert "{" not in staticfire("services", "list").stdout


def test_a_state_folder_that_cannot_be_written(staticfire):
    """No engine is started that nobody could stop; the list still answers, with a warning."""
    home = "/proc/none"
    done = staticfire("serve", "q", "--", *ENGINE, code=2, STATICFIRE_HOME=home)
    assert "an engine without a record could be neither found nor stopped" in done.stderr
    done = staticfire("services", "list", STATICFIRE_HOME=home)
    assert done.stdout == "no services; nobody supervises them\n"
    assert done.stderr.count("cannot be written") == 1


def test_an_engine_that_ends_by_itself_is_no_zombie(staticfire):
    """The command that started it has gone: whoever looks next sees that it is dead."""
    pid = staticfire.serve("q")["pid"]
    os.kill(pid, signal.SIGKILL)
    page = staticfire.json("services", "show", "q")
    assert (page["status"], page["alive"]) == ("failed", False)
    assert "process is" in page["reason"]
