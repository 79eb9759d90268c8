"""Tests of `staticfire fleet`, as a process in real time."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner

from staticfire.cli.fleet import command
from staticfire.stand import limits

MAIN = "from staticfire.cli.fleet import command; command()"
FLEET = """\
seed = 3
model = "qwen"

[group.early]
count = 2

[group.late]
binds = "1h"
"""


@pytest.fixture
def fleet(tmp_path):
    """Starts a fleet of a text; kills what a test leaves behind."""
    started = []

    def start(text, *args):
        (tmp_path / "fleet.toml").write_text(text)
        process = subprocess.Popen(
            [sys.executable, "-c", MAIN, str(tmp_path / "fleet.toml"), *args],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process, json.loads(process.stdout.readline() or "null")

    yield start
    for process in started:
        with process:
            if process.poll() is None:
                process.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_a_signal_and_says_where(fleet, number):
    """One JSON line with every engine's URL; each serves at its time; exit 0, no noise."""
    process, facts = fleet(FLEET)
    assert [(e["name"], e["group"], e["model"]) for e in facts["engines"]] == [
        ("early-00", "early", "qwen"),
        ("early-01", "early", "qwen"),
        ("late", "late", "qwen"),
    ]
    assert facts["urls"] == [f"http://127.0.0.1:{e['port']}" for e in facts["engines"]]
    assert (facts["pid"], facts["seed"]) == (process.pid, 3)
    names = []
    for engine in facts["engines"][:2]:
        client = http.client.HTTPConnection("127.0.0.1", engine["port"], timeout=10)
        client.request("GET", "/v1/models")
        names.append(client.getresponse().headers["x-engine"])
        client.close()
    assert names == ["early-00", "early-01"]
    with pytest.raises(ConnectionRefusedError):
        http.client.HTTPConnection("127.0.0.1", facts["engines"][2]["port"], timeout=10).connect()
    process.send_signal(number)
    assert process.wait(10) == 0
    assert process.stderr.read() == ""


def test_a_seed_on_the_command_line_replaces_the_files(fleet):
    """So that one file is replayed with many seeds."""
    _, facts = fleet(FLEET, "--seed", "9")
    assert facts["seed"] == 9


def test_ports_may_be_fixed_and_one_in_use_is_one_line(fleet):
    """A launch script knows the ports; a second fleet on them exits 2."""
    _, facts = fleet("[group.a]\n")
    text = f"[group.a]\nport = {facts['engines'][0]['port']}\n"
    process, nothing = fleet(text)
    assert nothing is None
    assert process.wait(10) == 2
    errors = process.stderr.read()
    assert "expected a free port, found one that is in use" in errors
    assert errors.count("\n") == 1


def test_a_wrong_file_is_one_line_and_exit_2(tmp_path):
    """File, line and key."""
    (tmp_path / "fleet.toml").write_text("[group.a]\ncuont = 2\n")
    result = CliRunner().invoke(command, [str(tmp_path / "fleet.toml")])
    assert result.exit_code == 2
    assert ":2: group.a.cuont: expected one of the keys" in result.output
    assert result.output.count("\n") == 1


def test_a_fleet_larger_than_the_machine_allows_is_refused(tmp_path, monkeypatch):
    """Before an engine starts, and with what to do: half a fleet would look like a bug of a router."""
    monkeypatch.setattr(limits, "lift_open_files", lambda: 300)
    (tmp_path / "fleet.toml").write_text("[group.a]\ncount = 101\n")
    result = CliRunner().invoke(command, [str(tmp_path / "fleet.toml")])
    assert result.exit_code == 2
    assert "expected at most 100 engines, as 300 open files are allowed" in result.output


def test_a_file_that_is_not_there_is_named():
    """Exit 2 with the path."""
    result = CliRunner().invoke(command, ["nowhere.toml"])
    assert result.exit_code == 2
    assert "nowhere.toml: expected a readable TOML file" in result.output
