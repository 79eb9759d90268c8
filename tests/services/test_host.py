"""Processes of services on the real machine, in short times."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from staticfire.readiness.evidence import Identity
from staticfire.services import logs
from staticfire.services.decide import begun, started
from staticfire.services.host import CannotStart, Machine, how_it_ended
from staticfire.services.processes import Table, read
from staticfire.services.service import Patience, Service


@pytest.fixture
def machine():
    """A machine whose services are gone when the test ends."""
    made = Machine()
    services: list[Service] = []
    made.seen = services
    yield made
    for service in services:
        for one in Table().members(service.life.pid, service.life.start, service.life.nonce):
            with contextlib.suppress(ProcessLookupError):
                os.kill(one.pid, signal.SIGKILL)
        made.look(service)


@pytest.fixture
def start(machine, tmp_path):
    """Starts a command as a service."""

    def run(*command: str, name: str = "a", grace: float = 5.0, **more) -> Service:
        service = Service(
            name, command, "http://127.0.0.1:1", log=str(tmp_path / "a.log"),
            patience=Patience(grace=grace), **more,
        )  # fmt: skip
        service = begun(service, os.urandom(8).hex(), 1)
        pid, begin = asyncio.run(machine.start(service, dict(os.environ) | {"GREETING": "hello"}))
        service = started(service, pid, begin, 1)
        machine.seen.append(service)
        return service

    return run


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-u", "-c", code)


def said(service: Service, text: str) -> bool:
    """Whether its log says so within five seconds."""
    end = time.monotonic() + 5
    while time.monotonic() < end:
        if any(text in line for line in logs.tail(Path(service.log), 50)):
            return True
        time.sleep(0.01)
    return False


def dead(machine: Machine, service: Service) -> str:
    """How it ended, within five seconds."""
    asyncio.run(machine.watch(service, 5.0))
    facts = machine.look(service)
    assert not facts.alive
    return facts.death


def test_it_runs_in_a_session_of_its_own(machine, start):
    """Its own session and group, no terminal, standard input empty, both outputs in the log."""
    service = start(
        *python(
            "import os, sys; sys.stderr.write('err\\n')\n"
            "print(os.getsid(0) == os.getpid(), sys.stdin.read() == '', os.environ['GREETING'])\n"
            "import time; time.sleep(60)"
        )
    )
    assert said(service, "True True hello")
    assert said(service, "err")
    facts = machine.look(service)
    assert facts.alive
    assert facts.log > 0
    found = read(service.life.pid)
    assert found is not None
    assert found.session == service.life.pid != os.getsid(0)


def test_its_port_and_folder(machine, start, tmp_path):
    """Each {port} in the command is its port; it runs where it was asked for."""
    service = start("echo", "a{port}", "--port={port}", "{p}", port=77)
    assert said(service, "a77 --port=77 {p}")
    service = start("pwd", folder=str(tmp_path))
    assert said(service, str(tmp_path))


@pytest.mark.parametrize(
    ("command", "folder", "why"),
    [
        (("no-such-command",), "", "there is no command 'no-such-command'"),
        (("/etc/passwd",), "", "cannot start '/etc/passwd': permission denied"),
        (("true",), "/none/such", "cannot start in /none/such: No such file"),
    ],
)
def test_a_command_that_cannot_start(start, command, folder, why):
    """Told at once, with what was expected."""
    with pytest.raises(CannotStart, match=why):
        start(*command, folder=folder)


def test_a_file_of_no_format_cannot_start(start, tmp_path):
    """What only exec itself finds out is told as well."""
    path = tmp_path / "x"
    path.write_bytes(b"\x00\x01")
    path.chmod(0o700)
    with pytest.raises(CannotStart, match="exec format error"):
        start(str(path))


@pytest.mark.parametrize(
    ("code", "death", "exit_"),
    [
        ("raise SystemExit(3)", "exited with 3", 3),
        ("pass", "exited with 0", 0),
        ("import os; os.kill(os.getpid(), 9)", "killed by SIGKILL", -9),
    ],
)
def test_how_our_child_ended(machine, start, code, death, exit_):
    """Its exit status or the signal, and the same at a second look."""
    service = start(*python(code))
    assert dead(machine, service) == death
    assert how_it_ended(exit_) == death


def test_a_life_that_is_not_our_child(machine, start):
    """Another process has no exit status of it; what it sees is that it is gone."""
    service = start("sleep", "60")
    other = Machine()
    assert other.look(service).alive
    os.kill(service.life.pid, signal.SIGKILL)
    assert dead(other, service) == "its process is dead (a zombie)"
    assert dead(machine, service) == "killed by SIGKILL"
    assert other.look(service).death == "its process is gone"


def test_a_recycled_pid_is_not_ours(machine, start):
    """The pid with another start time is another process: ours is dead, that one is left alone."""
    service = start("sleep", "60")
    stranger = replace(service, life=replace(service.life, start=service.life.start + 1, nonce="x"))
    facts = machine.look(stranger)
    assert not facts.alive
    assert facts.death == f"its process is gone; pid {service.life.pid} is another process now"
    asyncio.run(machine.end(stranger))
    assert machine.look(service).alive


def test_the_end_takes_the_whole_group(machine, start):
    """Children, and children that left the session, are gone when `end` returns."""
    service = start(
        *python(
            "import subprocess, time\n"
            "subprocess.Popen(['sleep', '60'])\n"
            "subprocess.Popen(['sleep', '60'], start_new_session=True)\n"
            "print('up'); time.sleep(60)"
        )
    )
    assert said(service, "up")
    life = service.life
    assert len(Table().members(life.pid, life.start, life.nonce)) == 3
    asyncio.run(machine.end(service))
    assert Table().members(life.pid, life.start, life.nonce) == ()


def test_orphans_of_a_dead_leader_are_ended(machine, start):
    """VLLM's workers outlive their parent: kill -9 of the leader leaves none of them here."""
    service = start(
        *python(
            "import subprocess, time\n"
            "subprocess.Popen(['sleep', '60']); print('up'); time.sleep(60)"
        )
    )
    assert said(service, "up")
    os.kill(service.life.pid, signal.SIGKILL)
    assert dead(machine, service) == "killed by SIGKILL"
    life = service.life
    assert len(Table().members(life.pid, life.start, life.nonce)) == 1
    asyncio.run(machine.end(service))
    assert Table().members(life.pid, life.start, life.nonce) == ()


def test_a_second_term_before_the_kill(machine, start):
    """llama.cpp leaves at the second TERM: it gets one before it is killed."""
    service = start(
        *python(
            "import signal, sys, time\n"
            "seen = []\n"
            "def term(*_):\n"
            "    seen.append(1); print('term', len(seen))\n"
            "    if len(seen) == 2: sys.exit(7)\n"
            "signal.signal(signal.SIGTERM, term); print('up')\n"
            "while True: time.sleep(60)"
        ),
        grace=0.2,
    )
    assert said(service, "up")
    asyncio.run(machine.end(service))
    assert logs.tail(Path(service.log), 2) == ["term 1", "term 2"]
    assert not machine.look(service).alive


def test_what_ignores_term_is_killed(machine, start, monkeypatch):
    """TERM, grace, TERM, KILL; then nothing is left."""
    monkeypatch.setattr("staticfire.services.host.SECOND_GRACE", 0.1)
    service = start(
        *python(
            "import signal, time\n"
            "signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up'); time.sleep(60)"
        ),
        grace=0.1,
    )
    assert said(service, "up")
    began = time.monotonic()
    asyncio.run(machine.end(service))
    assert 0.2 <= time.monotonic() - began < 3.0
    life = service.life
    assert Table().members(life.pid, life.start, life.nonce) == ()


def test_a_process_that_is_stopped_is_ended_too(machine, start, monkeypatch):
    """SIGSTOP holds TERM back; KILL is not held."""
    monkeypatch.setattr("staticfire.services.host.SECOND_GRACE", 0.1)
    service = start("sleep", "60", grace=0.1)
    os.kill(service.life.pid, signal.SIGSTOP)
    asyncio.run(machine.end(service))
    life = service.life
    assert Table().members(life.pid, life.start, life.nonce) == ()


def test_a_death_is_seen_as_it_happens(machine, start):
    """A wait for a process ends with it, not at the next look."""
    service = start("sleep", "0.2")
    began = time.monotonic()
    asyncio.run(machine.watch(service, 30.0))
    assert time.monotonic() - began < 3.0
    assert not machine.look(service).alive


def test_who_listens_on_the_port(machine, start):
    """Its own process, also a child of it; a stranger by pid and start; nobody."""
    code = (
        "import socket, subprocess, sys, time\n"
        "s = socket.create_server(('127.0.0.1', 0)); s.set_inheritable(True)\n"
        "print('port', s.getsockname()[1])\n"
        "subprocess.Popen(['sleep', '60'], close_fds=False); s.close(); time.sleep(60)"
    )
    server = start(*python(code))
    assert said(server, "port")
    port = int(logs.tail(Path(server.log), 1)[0].split()[1])
    server = replace(server, port=port)
    machine.refresh()
    assert machine.owner(server) == server.life.identity
    other = replace(start("sleep", "60", name="b"), port=port)
    foreign = machine.owner(other)
    assert foreign is not None
    assert foreign.pid != other.life.pid
    assert isinstance(foreign, Identity)
    assert machine.owner(replace(other, port=None)) is None
