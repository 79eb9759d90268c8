"""The gate as a background job of bash: one job, one PID, told by `wait -n -p`."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys

import pytest

pytestmark = pytest.mark.realtime

LAUNCHER = """
set -u
sleep 60 &
engine=$!
"$@" &
gate=$!
wait -n -p ended "$engine" "$gate"
code=$?
[ "$ended" = "$gate" ] && who=gate || who=engine
kill "$engine" "$gate" 2>/dev/null
wait
echo "$who $code $(jobs -r | wc -l) $gate"
"""
"""Teardown fires when the first of them ends, whoever that is."""


@pytest.fixture
def launch():
    """Run the launcher with a gate; what it told: who ended first, with what, what still runs."""
    found = shutil.which("bash")
    told = subprocess.run(
        [found or "false", "-c", "echo $BASH_VERSION"], capture_output=True, text=True
    )
    if [int(number) for number in re.findall(r"\d+", told.stdout)[:2]] < [5, 1]:
        pytest.skip(f"needs bash 5.1 for `wait -n -p`, found {told.stdout.strip() or 'none'}")

    def run(*words: str) -> list[str]:
        gate = [sys.executable, "-m", "staticfire", "gate", *words]
        done = subprocess.run(
            [found, "-c", LAUNCHER, "launcher", *gate], capture_output=True, text=True, timeout=20
        )
        return done.stdout.splitlines()

    return run


@pytest.fixture
def nobody():
    """The URL of a port that refuses and stays ours."""
    with socket.socket() as owner:
        owner.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{owner.getsockname()[1]}"


@pytest.fixture
def healthy():
    """The URL of a mock engine in a process of its own."""
    engine = [sys.executable, "-m", "staticfire", "engine"]
    with subprocess.Popen(engine, stdout=subprocess.PIPE, text=True) as process:
        yield re.search(r"http://[^\"]+", process.stdout.readline())[0]
        process.terminate()


def test_a_gate_that_ran_out_fires_the_teardown(launch, nobody):
    """Exit 1 under the PID that the launcher got for its job; the engine is stopped."""
    (line,) = launch("--timeout", "0.3", "--worker", nobody, "--", "sleep", "60")
    assert re.fullmatch(r"gate 1 0 \d+", line)


def test_a_router_that_crashes_behind_the_gate_fires_the_teardown(launch, healthy):
    """The router's own exit code, under the same PID: the gate has become the router."""
    router = ["sh", "-c", 'echo "$$"; exit 7']
    pid, line = launch("--until", "health", "--worker", healthy, "--", *router)
    assert line == f"gate 7 0 {pid}"


def test_a_router_that_is_killed_behind_the_gate_fires_the_teardown(launch, healthy):
    """A signal is told as for any job: 128 and its number."""
    router = ["sh", "-c", "kill -SEGV $$"]
    (line,) = launch("--until", "health", "--worker", healthy, "--", *router)
    assert line.startswith("gate 139 0 ")
