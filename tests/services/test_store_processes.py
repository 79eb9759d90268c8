"""The store between processes: nothing is lost, one probes."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter

import pytest

from staticfire.services.store import Store

pytestmark = pytest.mark.realtime

WRITER = """
import sys
from dataclasses import replace
from pathlib import Path
from staticfire.services.home import Home
from staticfire.services.store import Store

home, who, rounds = Home(Path(sys.argv[1])), sys.argv[2], int(sys.argv[3])
store = Store(home)
print("ready", flush=True)
sys.stdin.readline()

def waiter(s):
    return replace(s, life=replace(s.life, io=s.life.io + 1))

def lister(s):
    return replace(s, readiness=replace(s.readiness, passes=s.readiness.passes + 1))

def supervisor(s):
    return replace(s, restarts=s.restarts + 1, streak=s.streak + 1)

how = {"waiter": waiter, "lister": lister, "supervisor": supervisor}[who]
swapped = 0
for round in range(rounds):
    if round % 10 == 9:  # compare and swap, as often as it takes
        while store.swap(how(store.get("qwen"))) is None:
            swapped += 1
    else:
        store.change("qwen", how)
assert not store.notes, store.notes
"""


@pytest.fixture
def spawn():
    """Starts Python processes; none outlives the test."""
    started: list[subprocess.Popen[str]] = []

    def start(code: str, *args: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", code, *args],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def begin(processes: list[subprocess.Popen[str]]) -> None:
    """Let all of them go at once, when each is ready."""
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", process.communicate()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()


@pytest.mark.parametrize("mounts", ["local", "network"])
def test_a_thousand_rounds_lose_nothing(store, home, planned, spawn, mounts):
    """Waiter, lister and supervisor write at once: every write of each is in the record."""
    rounds = 1000 if mounts == "local" else 60
    code = WRITER
    if mounts == "network":
        text = f"1 0 0:1 / {home.path.parent} rw - nfs4 s:/x rw"
        code = code.replace("Store(home)", f"Store(home, mounts={text!r})").replace(
            "assert not store.notes", "assert len(store.notes) == 1"
        )
        store.close()
        store = Store(home, mounts=text)
    store.add(planned(), {})
    writers = [
        spawn(code, str(home.path), who, str(rounds)) for who in ("waiter", "lister", "supervisor")
    ]
    begin(writers)
    for writer in writers:
        _, err = writer.communicate(timeout=60)
        assert writer.returncode == 0, err
    found = store.get("qwen")
    counts = (found.life.io, found.readiness.passes, found.restarts, found.streak)
    assert counts == (rounds,) * 4
    assert found.version == 1 + 3 * rounds
    store.close()


def test_a_writer_that_is_killed_leaves_a_whole_record(store, home, planned, spawn):
    """Kill -9 in the middle of its writes: the record is one of those that it wrote."""
    store.add(planned(), {})
    writer = spawn(WRITER, str(home.path), "supervisor", "1000000")
    begin([writer])
    while store.get("qwen").restarts < 50:
        assert writer.poll() is None
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    found = store.get("qwen")
    assert found.restarts == found.streak == found.version - 1
    assert store.change("qwen", lambda s: s).version == found.version


def test_stores_that_find_damage_at_once_set_it_aside_once(home, spawn):
    """Eight processes open a damaged store: one renames it, the others find the new one."""
    home.make()
    home.store.write_bytes(b"garbage" * 5000)
    code = (
        "import sys; from pathlib import Path\n"
        "from staticfire.services.home import Home\n"
        "from staticfire.services.store import Store\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "store = Store(Home(Path(sys.argv[1]))); print(len(store.notes))"
    )
    processes = [spawn(code, str(home.path)) for _ in range(8)]
    begin(processes)
    told = Counter()
    for process in processes:
        out, err = process.communicate(timeout=30)
        assert process.returncode == 0, err
        told[out.strip()] += 1
    assert told == {"1": 1, "0": 7}
    assert len(list(home.path.glob("services.db.damaged-*"))) == 1
