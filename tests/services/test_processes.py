"""Who a process is, what it listens on."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from dataclasses import replace

import pytest

from staticfire.services.processes import NONCE, Table, boot_id, free_port, io_of, read

SLEEP = "import sys; print(1, flush=True); sys.stdin.read()"


@pytest.fixture
def child():
    """A child with a mark, in a session of its own, that runs until the test ends."""
    made = []

    def start(code: str = SLEEP, nonce: str = "n1", **more) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=os.environ | {NONCE: nonce}, start_new_session=True, **more,
        )  # fmt: skip
        made.append(process)
        assert process.stdout is not None
        process.stdout.readline()
        return process

    yield start
    for process in made:
        process.kill()
        process.communicate()


def test_a_process_is_its_pid_with_its_start(child):
    """The start time is the same at each look, and two processes differ in one of the two."""
    first, second = child(), child()
    one, again, other = read(first.pid), read(first.pid), read(second.pid)
    assert one is not None
    assert one == again
    assert other is not None
    assert (one.pid, one.start) != (other.pid, other.start)
    assert (one.session, one.group, one.alive) == (first.pid, first.pid, True)


def test_a_zombie_is_dead(child):
    """It has a pid and a start time, and nothing of it runs."""
    process = child()
    before = read(process.pid)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    zombie = read(process.pid)
    assert zombie is not None
    assert before is not None
    assert zombie.start == before.start
    assert not zombie.alive
    assert Table().members(process.pid, before.start, "n1") == ()
    process.wait()
    assert read(process.pid) is None


def test_a_name_with_brackets_is_read(child, tmp_path):
    """/proc/PID/stat holds the program's name, whatever is in it."""
    path = tmp_path / "a) R 1 (b"
    path.symlink_to("/bin/sleep")
    process = subprocess.Popen([str(path), "60"])
    try:
        found = read(process.pid)
        assert found is not None
        assert found.group == os.getpgid(process.pid)
    finally:
        process.kill()
        process.wait()


def test_members_are_the_session_and_whoever_left_with_our_mark(child):
    """Children, a child that began a session of its own, nobody else."""
    code = (
        "import subprocess, sys\n"
        "a = subprocess.Popen(['sleep', '60'])\n"
        "b = subprocess.Popen(['sleep', '60'], start_new_session=True)\n"
        "c = subprocess.Popen(['env', '-i', 'sleep', '60'])\n"
        "print(a.pid, b.pid, c.pid, flush=True); sys.stdin.read()\n"
        "a.kill(); b.kill(); c.kill()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=os.environ | {NONCE: "mine"}, start_new_session=True,
    )  # fmt: skip
    with process:
        assert process.stdout is not None
        pids = set(map(int, process.stdout.readline().split())) | {process.pid}
        other = child(nonce="other")
        leader = read(process.pid)
        assert leader is not None
        table = Table()
        assert {m.pid for m in table.members(process.pid, leader.start, "mine")} == pids
        # The pid is another process's now: only what bears the mark is ours.
        marked = {m.pid for m in table.members(process.pid, leader.start + 1, "mine")}
        assert marked < pids
        assert len(marked) == 3
        assert {m.pid for m in table.members(other.pid, 1, "mine")} == marked
        # Not yet known by a pid, after a crash between the start and the record.
        assert {m.pid for m in table.members(None, None, "mine")} == marked
        assert table.members(None, None, "") == ()


def test_two_looks_at_one_process_are_equal(child):
    """Whether it runs or sleeps just now says nothing about who it is."""
    looked = read(child().pid)
    assert looked is not None
    assert replace(looked, state="R") == replace(looked, state="S")
    assert replace(looked, start=looked.start + 1) != looked


def test_the_listener_of_a_port(child):
    """Ours, another's with who it is, nobody's."""
    code = (
        "import socket, sys\n"
        "s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True)\n"
        "sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=os.environ | {NONCE: "srv"}, start_new_session=True,
    )  # fmt: skip
    with process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        table = Table()
        server = read(process.pid)
        assert server is not None
        ours = table.members(process.pid, server.start, "srv")
        assert table.holder(port, ours) is True
        bystander = read(child().pid)
        assert bystander is not None
        assert table.holder(port, (bystander,)) == server
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            assert table.holder(unused.getsockname()[1], (bystander,)) is None


def test_an_ipv6_listener_is_seen():
    """Engines bind to :: too."""
    try:
        server = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("no IPv6 on this machine")
    with server:
        me = read(os.getpid())
        assert me is not None
        assert Table().holder(server.getsockname()[1], (me,)) is True


def test_reading_counts_as_moving(tmp_path):
    """Bytes of files that a process reads are seen."""
    before = io_of(os.getpid())
    (tmp_path / "x").write_bytes(b"x" * 3_000_000)
    (tmp_path / "x").read_bytes()
    assert io_of(os.getpid()) - before >= 6_000_000
    assert io_of(2**22 + 1) == 0


def test_orphans_are_told_by_name(child, monkeypatch):
    """What runs with a mark and is in no record of its folder: one of each group."""
    monkeypatch.setenv("STATICFIRE_SERVICE", "lost one")
    monkeypatch.setenv("STATICFIRE_STATE", "/a")
    process = child()
    assert Table().orphans({"kept"}, "/a") == [(process.pid, "lost one")]
    assert Table().orphans({"lost one"}, "/a") == []
    assert Table().orphans({"kept"}, "/b") == []


def test_the_boot_has_an_id():
    """The same at each look."""
    assert boot_id() == boot_id() != ""


def test_a_free_port_is_free():
    """It can be bound without being shared."""
    with socket.socket() as taker:
        taker.bind(("127.0.0.1", free_port()))
