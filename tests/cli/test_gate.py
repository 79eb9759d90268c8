"""`staticfire gate` as a process, with budgets of a second or two."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import socket
import stat
import subprocess
import sys
import threading
import time

import pytest

pytestmark = pytest.mark.realtime


class Raw:
    """An engine in a thread that lists and serves, or answers `status` to everything.

    Before that it answers 503 to the first `sheds` requests.
    """

    def __init__(self) -> None:
        self.status = 200
        self.sheds = 0
        self.paths: list[bytes] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self) -> None:
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            with peer:
                path = peer.recv(65536).split(b" ")[1]
                self.paths.append(path)
                page = {"model": "qwen", "choices": [{}], "data": [{"id": "qwen"}]}
                body = json.dumps(page).encode()
                status = 503 if self.sheds else self.status
                self.sheds = max(0, self.sheds - 1)
                head = f"HTTP/1.1 {status} X\r\ncontent-length: {len(body)}\r\n\r\n"
                peer.sendall(head.encode() + body)

    def stop(self) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()


@pytest.fixture
def engine():
    """A factory of raw engines."""
    started = []

    def start():
        started.append(Raw())
        return started[-1]

    yield start
    for raw in started:
        raw.stop()


@pytest.fixture
def nobody():
    """The URL of a port that refuses and stays ours."""
    with socket.socket() as owner:
        owner.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{owner.getsockname()[1]}"


GATE = [sys.executable, "-c", "from staticfire.cli import main; main()", "gate"]


def gate(*args: str, **kwargs):
    """Run a gate to its end."""
    return subprocess.run([*GATE, *args], capture_output=True, text=True, timeout=20, **kwargs)


def timeless(text: str) -> str:
    """What was said, with N for its seconds: a busy machine may take some more."""
    return re.sub(r"\bafter \d+s", "after Ns", text)


def python(code: str, *args: str) -> list[str]:
    """A command line that runs Python."""
    return [sys.executable, "-c", code, *args]


def test_it_becomes_the_command_with_the_same_pid(engine):
    """The gate's process is the command's: same PID; stdout is the command's alone."""
    command = python("import os; print(os.getpid())", "--worker-urls", engine().url)
    process = subprocess.Popen(
        [*GATE, "--", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    out, err = process.communicate(timeout=20)
    assert process.returncode == 0
    assert int(out) == process.pid
    assert timeless(err).splitlines()[-1] == "All 1 workers healthy after Ns"


def test_a_line_per_change_where_there_is_no_terminal(engine):
    """What is waited for, then each worker as it comes, then the last line in its exact form."""
    urls = [engine().url for _ in range(3)]
    done = gate("--", "true", "--worker-urls", *urls)
    first, *changes, last = timeless(done.stderr).splitlines()
    assert first == "waiting for 3 of 3 workers, at most 4200s"
    assert sorted(line.split()[1] for line in changes) == sorted(f"{url}:" for url in urls)
    assert [line.split()[0] for line in changes] == ["[1/3]", "[2/3]", "[3/3]"]
    assert all(line.endswith(": serving after Ns") for line in changes)
    assert last == "All 3 workers healthy after Ns"


def test_one_that_never_comes_is_named_and_nothing_starts(engine, nobody, tmp_path):
    """Exit 1 at the timeout; the missing worker with why; the command never ran."""
    mark = tmp_path / "started"
    begun = time.monotonic()
    done = gate("--timeout", "1", "--", "touch", str(mark), "--worker-urls", engine().url, nobody)
    assert 1.0 <= time.monotonic() - begun < 15.0
    assert done.returncode == 1
    assert timeless(done.stderr).splitlines()[-2:] == [
        "1 of 2 workers missing after Ns (2 needed); the command was not started:",
        f"  {nobody}: expected serving, found: connection refused",
    ]
    assert not mark.exists()


def test_a_busy_engine_opens_it_when_it_drained(engine):
    """503 is not there yet; the next look after it drained opens the gate."""
    raw = engine()
    raw.sheds = 3
    done = gate("--interval", "0.1", "--timeout", "10", "--worker", raw.url, "--", "true")
    assert done.returncode == 0
    assert "/v1/models answered 503: busy" in done.stderr


def test_at_least_is_enough(engine, nobody):
    """The last line counts honestly."""
    done = gate("--at-least", "1", "--", "true", "--worker-urls", nobody, engine().url)
    assert done.returncode == 0
    assert timeless(done.stderr).splitlines()[-1] == "1 of 2 workers healthy after Ns"


@pytest.mark.parametrize(
    ("until", "paths"),
    [
        ("health", {b"/health"}),
        ("listed", {b"/v1/models"}),
        ("serving", {b"/v1/models", b"/v1/chat/completions"}),
        (None, {b"/v1/models", b"/v1/chat/completions"}),
    ],
)
def test_until_is_as_told(engine, until, paths):
    """`--until` names what is asked; serving is the default."""
    raw = engine()
    done = gate(*(["--until", until] if until else []), "--worker", raw.url, "--", "true")
    assert done.returncode == 0
    assert set(raw.paths) == paths


def test_legs_are_asked_for_their_health(engine):
    """A prefill and a decode leg serve nobody alone: their default is health."""
    prefill, decode = engine(), engine()
    done = gate("--", "true", "--prefill", prefill.url, "8998", "--decode", decode.url)
    assert timeless(done.stderr).splitlines()[-1] == "All 2 workers healthy after Ns"
    assert set(prefill.paths + decode.paths) == {b"/health"}


def test_sigterm_ends_it_at_once(nobody):
    """143, without the command."""
    process = subprocess.Popen(
        [*GATE, "--worker", nobody, "--", "true"], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    with process.stderr:
        process.stderr.readline()
        begun = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=10) == 143
    assert time.monotonic() - begun < 5.0


def test_an_ignored_sigterm_stays_ignored(engine):
    """Started with SIGTERM ignored, as a shell does it for a trap, the gate goes on."""
    raw = engine()
    raw.status = 503
    shell = ["sh", "-c", 'trap "" TERM; exec "$@"', "sh"]
    arguments = ["--interval", "0.1", "--worker", raw.url, "--", "true"]
    process = subprocess.Popen([*shell, *GATE, *arguments], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    with process.stderr:
        process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        raw.status = 200
        assert process.wait(timeout=10) == 0


@pytest.mark.parametrize(
    ("name", "code"), [("no-such-command-here", 127), ("/none/such", 127), ("/etc/passwd", 126)]
)
def test_a_command_that_cannot_start_is_told_before_the_wait(nobody, name, code):
    """127 and 126 as a shell has them, not after an hour."""
    done = gate("--worker", nobody, "--", name)
    assert done.returncode == code
    assert done.stderr.startswith(f"{name}: expected a command that can be run, found: ")


def test_a_file_that_exec_refuses_is_126(engine, tmp_path):
    """What only exec itself finds out has the same code."""
    script = tmp_path / "no-format"
    script.write_bytes(b"\x00\x01garbage")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    done = gate("--worker", engine().url, "--", str(script))
    assert done.returncode == 126


def test_signals_are_as_a_shell_would_give_them(engine):
    """Python's own ignored SIGPIPE and SIGXFSZ are not handed on; an ignored SIGTERM is."""
    shell = ["sh", "-c", 'trap "" TERM; exec cat /proc/self/status']
    direct = subprocess.run(shell, capture_output=True, text=True, timeout=20)
    gated = ["sh", "-c", 'trap "" TERM; exec "$@"', "sh", *GATE, "--worker", engine().url, "--"]
    behind = subprocess.run(
        [*gated, "cat", "/proc/self/status"], capture_output=True, text=True, timeout=20
    )

    def ignored(text: str) -> int:
        line = next(line for line in text.splitlines() if line.startswith("SigIgn"))
        return int(line.split()[1], 16)

    assert ignored(behind.stdout) == ignored(direct.stdout)
    assert ignored(behind.stdout) >> (signal.SIGTERM - 1) & 1


def test_stdio_stays_blocking_and_no_file_is_leaked(engine):
    """The command finds 0, 1, 2 and nothing else, none of them non-blocking."""
    code = (
        "import os; print(sorted(int(f) for f in os.listdir('/proc/self/fd'))[:-1],"
        " [os.get_blocking(f) for f in (0, 1, 2)])"
    )
    done = gate("--worker", engine().url, "--", *python(code), stdin=subprocess.DEVNULL)
    assert done.stdout == "[0, 1, 2] [True, True, True]\n", done.stderr


def test_a_bar_on_a_terminal(engine, nobody):
    """On a terminal a bar is drawn, the cursor comes back, the last line is the same."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*GATE, "--at-least", "1", "--worker", engine().url, "--worker", nobody, "--", "true"],
        stderr=theirs, env=os.environ | {"TERM": "xterm", "COLUMNS": "100"},
    )  # fmt: skip
    os.close(theirs)
    seen = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:
            break
        if not chunk:
            break
        seen += chunk
    os.close(ours)
    assert process.wait(timeout=20) == 0
    text = seen.decode()
    assert timeless(text).replace("\r", "").endswith("1 of 2 workers healthy after Ns\n")
    assert "1/2" in text
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l")


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("--worker", "http://127.0.0.1:1"), "expected a command after --"),
        (("--", "true"), "give --worker URL, or a command with --worker-urls"),
        (("--", "true", "--worker-urls", "localhost:1"), "--worker-urls: expected a URL"),
        (("--", "true", "--worker-url", "http://a:1"), "did you mean --worker-urls where it says"),
        (("--", "true", "--worker-urls", "http://a:1", "htp://b:1"), "--worker-urls, 2 of 2:"),
        (("--worker", "ftp://x", "--", "true"), "--worker: expected a URL"),
        (("--until", "listd", "--worker", "http://127.0.0.1:1", "--", "true"), 'mean "listed"?'),
        (("--at-least", "2", "--worker", "http://127.0.0.1:1", "--", "true"), "from 1 to 1"),
        (
            ("--at-least", "1", "--", "true", "--prefill", "http://a:1", "--decode", "http://b:1"),
            "from 2 to 2",
        ),
        (
            ("--pid", "http://127.0.0.1:1=x", "--worker", "http://127.0.0.1:1", "--", "true"),
            "--pid",
        ),
        (("--timeout", "-1", "--worker", "http://127.0.0.1:1", "--", "true"), "--timeout"),
        (("--tiemout", "1", "--", "true"), "--timeout"),
    ],
)
def test_a_wrong_call_is_a_usage_error(args, told):
    """Exit 2, what was expected and what to do; nothing is waited for."""
    done = gate(*args)
    assert done.returncode == 2, done.stderr
    assert told in done.stderr


def test_json_is_a_line_per_change_and_a_last_line(engine):
    """On stderr, each line an object: what is waited for, the changes, how it ended."""
    urls = [engine().url for _ in range(2)]
    done = gate("--json", "--", "echo", "out", "--worker-urls", *urls)
    first, *changes, last = map(json.loads, done.stderr.splitlines())
    assert done.stdout.startswith("out --worker-urls")
    assert first == {
        "event": "waiting", "needed": 2, "total": 2, "timeout": 4200.0,
        "workers": [{"url": url, "role": "worker", "until": "serving"} for url in urls],
    }  # fmt: skip
    assert sorted(change.pop("url") for change in changes) == sorted(urls)
    assert [change.pop("count") for change in changes] == [1, 2]
    assert all(change.pop("seconds") < 5 for change in changes)
    assert (
        changes
        == [{"event": "change", "there": True, "reason": "chat answered 200", "total": 2}] * 2
    )
    assert last.pop("seconds") < 5
    assert last == {
        "event": "open", "ok": True, "needed": 2, "total": 2, "there": urls, "missing": [],
    }  # fmt: skip


def test_json_names_who_is_missing(engine, nobody):
    """The last line of a gate that ran out: each missing worker with what was expected and found."""
    raw = engine()
    done = gate("--json", "--timeout", "0.3", "--worker", raw.url, "--worker", nobody, "--", "true")
    assert done.returncode == 1
    last = json.loads(done.stderr.splitlines()[-1])
    assert (last["event"], last["ok"], last["there"]) == ("timeout", False, [raw.url])
    assert last["missing"] == [
        {"url": nobody, "expected": "serving", "found": "connection refused", "dead": False}
    ]


def test_json_tells_a_signal(nobody):
    """The last line of a gate that was stopped."""
    process = subprocess.Popen(
        [*GATE, "--json", "--worker", nobody, "--", "true"], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    with process.stderr:
        process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        last = json.loads(process.stderr.readlines()[-1])
    assert process.wait(timeout=10) == 143
    assert last == {"event": "signal", "ok": False, "signal": 15}


def test_a_dead_worker_ends_the_wait(nobody):
    """A process that has ended, also as a zombie, is not waited for; the last line says so."""
    with subprocess.Popen(["true"]) as dead:
        os.waitid(os.P_PID, dead.pid, os.WEXITED | os.WNOWAIT)  # ended, and not waited for
        begun = time.monotonic()
        done = gate("--pid", f"{nobody}={dead.pid}", "--worker", nobody, "--", "true")
        assert time.monotonic() - begun < 15.0
    assert done.returncode == 1
    assert timeless(done.stderr).splitlines()[-2:] == [
        "1 of 1 workers missing after Ns (1 needed, 1 dead); the command was not started:",
        f"  {nobody}: expected serving, found: there is no process {dead.pid}",
    ]


def test_a_dead_worker_that_is_not_needed_ends_nothing(engine, nobody):
    """With `--at-least` the wait goes on as long as enough workers can come."""
    raw = engine()
    raw.sheds = 3
    with subprocess.Popen(["true"]) as dead:
        pass
    done = gate(
        "--at-least", "1", "--interval", "0.1", "--pid", f"{nobody}={dead.pid}",
        "--worker", nobody, "--worker", raw.url, "--", "true",
    )  # fmt: skip
    assert done.returncode == 0
    assert f"[0/2] {nobody}: there is no process {dead.pid} after Ns" in timeless(done.stderr)
    assert timeless(done.stderr).splitlines()[-1] == "1 of 2 workers healthy after Ns"
