"""The command `staticfire` as processes, with a state folder of the test's own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from staticfire.services.home import Home
from staticfire.services.processes import Table, variable

STATICFIRE = [sys.executable, "-c", "from staticfire.cli import main; main()"]

RAW = """
import http.server, json, os, sys, time
class Engine(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self): self.say({"data": [{"id": MODEL}]} if "models" in self.path else {})
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        say = {"model": MODEL, "choices": [{}]}
        self.say(say if STATUS == 200 else {"error": {"message": "no"}}, STATUS)
    def say(self, page, status=200):
        body = json.dumps(page).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *words): pass
MODEL, STATUS = os.environ.get("MODEL", "qwen"), int(os.environ.get("STATUS", "200"))
print("the raw engine starts", flush=True)
time.sleep(float(os.environ.get("LATE", "0")))
while not os.path.exists(os.environ.get("UNTIL", "/")): time.sleep(0.01)
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Engine).serve_forever()
"""
"""An engine that starts in a tenth of a second; LATE, UNTIL (a file is there), MODEL and STATUS make
it worse."""

ENGINE = [sys.executable, "-c", RAW, "{port}"]


class Shell:
    """Runs commands in one state folder."""

    def __init__(self, home: Path) -> None:
        self.home = Home(home)
        self.environ = os.environ | {"STATICFIRE_HOME": str(home)}
        self._started: list[subprocess.Popen[str]] = []

    def __call__(self, *words: str, code: int | None = 0, **environ: str):
        """Run `staticfire WORDS` to its end; `code` is the exit status that it must have."""
        done = subprocess.run(
            [*STATICFIRE, *words], capture_output=True, text=True, timeout=30,
            env=self.environ | environ,
        )  # fmt: skip
        assert code is None or done.returncode == code, (words, done)
        return done

    def json(self, *words: str, code: int | None = 0, **environ: str):
        """The same with `--json`, read."""
        return json.loads(self(*words, "--json", code=code, **environ).stdout)

    def serve(self, name: str, *options: str, code: int | None = 0, **environ: str):
        """Serve the raw engine; what was said, read."""
        words = ("serve", name, "--json", "--timeout", "10", *options, "--", *ENGINE)
        return json.loads(self(*words, code=code, **environ).stdout)

    def up(self, name: str, *options: str, **environ: str) -> None:
        """Serve the raw engine without a wait for it, and return when it listens."""
        page = self.serve(name, *options, "--timeout", "0", code=None, **environ)
        port = int(page["url"].rpartition(":")[2])
        for _ in range(3000):
            with contextlib.suppress(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", port)).close()
                return
            time.sleep(0.01)  # a socket of another process has no event to wait for
        raise AssertionError(f"{name} does not listen after 30 s")

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a command that goes on; it is killed with the test."""
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            [*STATICFIRE, *words], stdout=pipe, stderr=pipe, text=True,
            env=self.environ | {"PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
        self._started.append(process)
        return process

    def close(self) -> None:
        """End everything that was started here, with what it started."""
        for process in self._started:
            process.kill()
            process.communicate()
        table = Table()
        for pid in table.processes:
            if variable(pid, "STATICFIRE_HOME") == str(self.home.path) and pid != os.getpid():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


@pytest.fixture
def staticfire(tmp_path: Path):
    """`staticfire("services", "list")`, and so on."""
    shell = Shell(tmp_path / "state")
    yield shell
    shell.close()
