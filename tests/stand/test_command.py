"""The lane of any command: started as a service, asked what it can do, ended with its group."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from staticfire import readiness
from staticfire.errors import StaticFireError, WrongInput
from staticfire.services.host import gone
from staticfire.services.processes import Table, read
from staticfire.stand.lanes import LaneFailed, lanes
from staticfire.stand.lanes.command import CommandLane

ENGINE = f"{shlex.quote(sys.executable)} -m staticfire engine --model {{model}} --port {{port}}"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, r"lanes.mine\] command: expected what starts an engine, found nothing"),
        ({"command": "serve --model {model}"}, "an engine that is told its {port}, found serve"),
        ({"command": "serve {prot}"}, 'found {prot}; did you mean "port"?'),
        ({"command": "serve '{port}"}, "command: expected a command line, found No closing"),
        ({"command": ["serve", 8000]}, "expected a line or a list of words"),
        ({"command": "serve {port}", "start_within": 0}, "start_within: expected above zero"),
        ({"command": "serve {port}", "grace": "5"}, "grace: expected a number of seconds"),
        ({"command": "serve {port}", "grace": True}, "grace: expected a number of seconds"),
        ({"command": "serve {port}", "model": ""}, "model: expected a text"),
        ({"command": "serve {port}", "device": 1}, "device: expected a text, found 1"),
        ({"command": "serve {port}", "env": "A=1"}, "env: expected a table"),
        ({"command": "serve {port}", "folder": "no-such-place"}, "folder: expected a folder"),
        ({"command": "serve {port}", "commnd": 1}, "options of a command lane"),
    ],
)
def test_wrong_options_are_refused(options, told):
    """When the lane is made, before anything starts."""
    with pytest.raises(WrongInput) as caught:
        lanes({"mine": {"kind": "command", **options}})["mine"]()
    assert told.replace("\\", "") in str(caught.value)


def test_what_starts_it_outside_of_the_lane_has_its_environment():
    """`staticfire serve` gets the same engine: the lane's part of the environment is in front."""
    lane = CommandLane("serve --port {port} --name {model}", env={"A": 1}, model="llama")
    assert lane.command("llama") == (
        "env", "A=1", "serve", "--port", "{port}", "--name", "llama",
    )  # fmt: skip
    assert CommandLane("serve {port}").command("x") == ("serve", "{port}")


@pytest.fixture
def lane():
    made = []

    def make(command=ENGINE, **options):
        made.append(CommandLane(command, **{"start_within": 60.0, "grace": 1.0, **options}))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.mark.realtime
def test_an_engine_is_started_asked_and_lent_again(lane):
    """The first one, which was asked, is the first that is lent; another is started besides."""
    own = lane(f"{ENGINE} --personality llamacpp", model="llama")
    own.prepare()
    assert own.capabilities == {
        "listing", "chat", "stream", "refusals", "metrics", "command",
    }  # fmt: skip

    async def first():
        one = await own.start("a", "llama", 0)
        two = await own.start("b", "llama", 0)
        found = await readiness.probe(two.url, "llama", accept="strict")
        await one.stop()
        return one, two, found

    async def second(url):
        again = await own.start("c", "llama", 0)
        return again.url == url

    one, two, found = asyncio.run(first())
    assert one.url != two.url
    assert found.verdict is readiness.Verdict.SERVING
    assert asyncio.run(second(one.url))
    own.close()
    last = asyncio.run(readiness.probe(two.url, "llama"))
    assert last.verdict is readiness.Verdict.UNREACHABLE


@pytest.mark.realtime
def test_an_engine_that_died_is_not_lent_again(lane):
    """A scenario may have ended it; the next one gets another."""
    own = lane()

    async def main():
        one = await own.start("a", "qwen", 0)
        leader = read(one._service.life.pid)
        os.killpg(leader.pid, signal.SIGKILL)
        await gone((leader,), 30)
        await one.stop()
        two = await own.start("b", "qwen", 0)
        return one._service.name, two._service.name

    first, second = asyncio.run(main())
    assert first != second


@pytest.mark.realtime
@pytest.mark.parametrize(
    ("code", "within", "told"),
    [
        ("import sys; print('no such model'); sys.exit(3)", 60, "failed: .*no such model"),
        ("import time; time.sleep(60)", 1.5, "expected an engine that serves qwen within 1.5 s"),
    ],
)
def test_an_engine_that_does_not_come_up_fails_the_lane(lane, code, within, told):
    """With what it said, and nothing is left of it."""
    own = lane([sys.executable, "-c", code, "{port}"], start_within=within)
    with pytest.raises(LaneFailed, match=rf"(?s)lane command: .*{told}"):
        own.prepare()


@pytest.mark.realtime
def test_a_command_that_is_not_there_fails_the_lane(lane):
    """By its name."""
    with pytest.raises(LaneFailed, match=r"cannot start 'no-such-engine'"):
        lane("no-such-engine {port}").prepare()


@pytest.mark.realtime
def test_a_broken_probe_fails_the_lane(lane, tmp_path):
    """An engine that serves and cannot tell its load is not taken for one without metrics."""
    script = tmp_path / "script.toml"
    script.write_text(
        'model = "qwen"\n[[rule]]\non = "GET /metrics"\ndo = { fault = "answers", status = 500 }\n'
    )
    words = [sys.executable, "-m", "staticfire", "engine", "--script", str(script)]
    with pytest.raises(LaneFailed, match=r"lane command: http://.*: /metrics: .*status 500"):
        lane([*words, "--port", "{port}"]).prepare()


@pytest.mark.realtime
def test_a_key_goes_by_its_name(lane, tmp_path, monkeypatch):
    """The engine wants it for everything, and no process has it on its command line."""
    monkeypatch.setenv("ENGINE_KEY", "s3cret-key")
    script = tmp_path / "script.toml"
    script.write_text(
        'model = "qwen"\n[[rule]]\non = "everything"\ndo = { fault = "needs a key", key = "s3cret-key" }\n'
    )
    words = [sys.executable, "-m", "staticfire", "engine", "--script", str(script)]
    own = lane([*words, "--port", "{port}"], key_env="ENGINE_KEY")
    own.prepare()
    assert {"listing", "chat", "stream", "metrics"} <= own.capabilities
    lines = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in members(own._idle[0])]
    assert len(lines) == 2
    assert not any(b"s3cret" in line for line in lines)


@pytest.mark.realtime
def test_what_the_engine_started_ends_with_it(lane):
    """Its whole group, workers that the engine started too."""
    line = f"sleep 600 & exec {ENGINE}"
    own = lane(["sh", "-c", line.replace("{model}", "qwen")])

    async def main():
        return (await own.start("a", "qwen", 0))._service

    service = asyncio.run(main())
    group = members(service)
    assert len(group) >= 3
    own.close()
    assert [pid for pid in group if (found := read(pid)) is not None and found.alive] == []


@pytest.mark.realtime
def test_engines_end_with_a_run_that_was_killed():
    """Nobody is there to stop them: they notice, and what the run kept in a folder goes too."""
    program = f"""
        import asyncio, time
        from staticfire.stand.lanes.command import CommandLane

        lane = CommandLane({ENGINE!r})
        engine = asyncio.run(lane.start("a", "qwen", 0))
        print(engine._service.life.pid, lane._served._folder.name, flush=True)
        time.sleep(60)
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True
    ) as parent:
        leader, folder = parent.stdout.readline().split()
        assert Path(folder).is_dir()
        group = [pid for pid, one in Table().processes.items() if one.group == int(leader)]
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    assert len(group) >= 2
    ends = time.monotonic() + 30
    while any((found := read(pid)) is not None and found.alive for pid in group):
        assert time.monotonic() < ends, group
        time.sleep(0.05)
    assert not Path(folder).exists()


@pytest.mark.realtime
def test_a_folder_and_an_environment_are_its_own(lane, tmp_path):
    """What the table says is added to what the run has."""
    code = (
        "import os, sys, subprocess; "
        "assert os.environ['ONLY_HERE'] == '1' and os.environ['PATH']; "
        f"assert os.getcwd() == {str(tmp_path)!r}; "
        "os.execv(sys.executable, [sys.executable, '-m', 'staticfire', 'engine', "
        "'--model', 'qwen', '--port', sys.argv[1]])"
    )
    own = lane([sys.executable, "-c", code, "{port}"], folder=str(tmp_path), env={"ONLY_HERE": "1"})
    own.prepare()
    assert "chat" in own.capabilities


def test_what_a_command_has_not_is_told():
    """Tags keep scenarios away from it; who asks all the same is told."""
    own = CommandLane("serve {port}")
    for wanted in (own.start_loading, own.start_unloaded):
        with pytest.raises(StaticFireError, match="this lane"):
            asyncio.run(wanted("a", "qwen", 0))


def members(service) -> list[int]:
    """Whatever runs with the nonce of a service's life."""
    table = Table()
    life = service.life
    return [one.pid for one in table.members(life.pid, life.start, life.nonce)]
