"""Tests of `staticfire engine`, as a process in real time."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest
from click.testing import CliRunner

from staticfire.cli.engine import command

MAIN = "from staticfire.cli.engine import command; command()"


@contextmanager
def engine(*args):
    process = subprocess.Popen(
        [sys.executable, "-c", MAIN, *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process, json.loads(process.stdout.readline() or "null")
        finally:
            if process.poll() is None:
                process.kill()


def test_it_serves_until_sigterm_and_says_where(tmp_path):
    """One JSON line when the port is owned, answers as scripted, exit 0 at SIGTERM, port free."""
    file = tmp_path / "busy.toml"
    file.write_text(
        'model = "m"\n[[rule]]\non = "chat"\ntimes = 1\ndo = { fault = "answers", status = 503 }\n'
    )
    with engine("--script", str(file), "--name", "late", "--seed", "7") as (process, facts):
        assert facts == {
            "url": f"http://127.0.0.1:{facts['port']}",
            "port": facts["port"],
            "pid": process.pid,
            "name": "late",
            "seed": 7,
        }
        client = http.client.HTTPConnection("127.0.0.1", facts["port"], timeout=10)
        statuses = []
        for _ in range(2):
            body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]})
            client.request(
                "POST", "/v1/chat/completions", body, {"Content-Type": "application/json"}
            )
            answer = client.getresponse()
            answer.read()
            statuses.append((answer.status, answer.headers["x-engine"]))
        assert statuses == [(503, "late"), (200, "late")]
        client.close()
        with engine("--port", str(facts["port"])) as (second, nothing):
            assert nothing is None
            assert second.wait(10) == 2
            errors = second.stderr.read()
            assert "expected a free port, found one that is in use" in errors
            assert errors.count("\n") == 1
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
        assert process.stderr.read() == ""


def test_ctrl_c_ends_it_cleanly():
    """SIGINT is a clean end without a traceback."""
    with engine() as (process, facts):
        assert facts["name"] == "engine"
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
        assert process.stderr.read() == ""


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["--personality", "vlm"], 'did you mean "vllm"'),
        (["--script", "no-such-file.toml"], "expected a readable TOML file"),
        (["--script", "a.toml", "--personality", "vllm"], "found both"),
    ],
)
def test_wrong_input_is_one_line_and_exit_2(args, text):
    """What cannot be used is said in one line with what to do."""
    result = CliRunner().invoke(command, args)
    assert result.exit_code == 2
    assert text in result.output
    assert result.output.count("\n") == 1


def test_a_wrong_script_names_file_line_and_key(tmp_path):
    """The place of a mistake in a script file is in the message."""
    file = tmp_path / "bad.toml"
    file.write_text('model = "m"\n\nlife = [\n  { phase = "servin" },\n]\n')
    result = CliRunner().invoke(command, ["--script", str(file)])
    assert f"{file}:4: life[0].phase: expected the name of a phase" in result.output
    assert 'did you mean "serving"?' in result.output


FAULT = """
from dataclasses import dataclass
from staticfire.engine import fault
from staticfire.engine.faults import Answers

@fault("says teapot")
@dataclass(frozen=True, slots=True)
class SaysTeapot:
    def play(self, honest, ask):
        yield from Answers(418).play(honest, ask)
"""


def test_a_module_of_the_users_own_brings_its_faults(tmp_path, monkeypatch):
    """`--import` gives the script file the names of the user's own faults."""
    (tmp_path / "my_faults.py").write_text(FAULT)
    (tmp_path / "tea.toml").write_text(
        'model = "m"\n[[rule]]\non = "chat"\ndo = { fault = "says teapot" }\n'
    )
    monkeypatch.chdir(tmp_path)
    with engine("--import", "my_faults", "--script", "tea.toml") as (_, facts):
        client = http.client.HTTPConnection("127.0.0.1", facts["port"], timeout=10)
        body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]})
        client.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
        assert client.getresponse().status == 418
        client.close()


def test_a_module_that_cannot_be_imported_is_one_error():
    """The flag, what was expected, what came."""
    result = CliRunner().invoke(command, ["--import", "no_such_module"])
    assert result.exit_code == 2
    assert "--import: expected a module that can be imported, found No module named" in (
        result.output
    )


def test_an_unknown_personality_names_the_flag():
    """Not a key of a file that the user never wrote."""
    result = CliRunner().invoke(command, ["--personality", "vlm"])
    assert result.exit_code == 2
    assert '--personality: expected the name of a personality, found "vlm"; did you' in (
        result.output
    )
