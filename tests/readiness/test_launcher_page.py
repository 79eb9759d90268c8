"""The recipes of the page about launchers are commands that we have, and its launcher runs."""

from __future__ import annotations

import importlib
import json
import re
import shlex
import socket
import subprocess
import sys
import threading
from pathlib import Path

import click
import pytest

PAGE = (Path(__file__).parents[2] / "docs/how-to/readiness-in-your-launcher.md").read_text()


def block(kind: str, number: int = 0) -> str:
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[number]


def command_lines():
    """Every `staticfire …` that the page tells somebody to run, as words."""
    unit = re.findall(r"^Exec\w+=\S*/(staticfire .*)$", block("ini"), re.MULTILINE)
    lists = [json.loads(found) for found in re.findall(r"command: (\[.*\])", block("yaml"))]
    shells = [words[2].partition(";")[0] for words in lists if words[0] == "sh"]
    texts = [*unit, *shells, *block("sh").splitlines()]
    return [shlex.split(text) for text in texts] + [w for w in lists if w[0] == "staticfire"]


def test_every_command_of_the_page_is_one_of_ours():
    """Each is taken by the command's own parser: no flag is misspelt or gone."""
    lines = command_lines()
    assert len(lines) == 5
    for program, name, *words in lines:
        assert program == "staticfire"
        command = importlib.import_module(f"staticfire.cli.{name}").command
        command.make_context(name, words)
    with pytest.raises(click.UsageError):
        importlib.import_module("staticfire.cli.probe").command.make_context("probe", ["--no"])


def test_the_deadlines_of_the_recipes_fit_into_each_other():
    """A probe tells why before it is killed, the gate before systemd loses its patience."""
    yaml, unit = block("yaml"), block("ini")
    deadlines = [float(found) for found in re.findall(r"--deadline\W+(\d+)", yaml)]
    timeouts = [float(found) for found in re.findall(r"timeoutSeconds: (\d+)", yaml)]
    assert len(deadlines) == len(timeouts) == 2
    assert max(deadlines) < min(timeouts)
    gate, start = re.findall(r"--timeout (\d+)|TimeoutStartSec=(\d+)", unit)
    assert int(gate[0]) < int(start[1])


@pytest.fixture
def engine():
    """The URL of an engine that answers everything once it is asked."""
    body = b'{"data": [{"id": "qwen"}], "model": "qwen", "choices": [{}]}'
    answer = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            with peer:
                peer.recv(65536)
                peer.sendall(answer)

    thread = threading.Thread(target=serve)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


@pytest.mark.parametrize(("there", "code", "told"), [(True, 0, "ready"), (False, 1, "not started")])
def test_the_launcher_of_the_page_runs(tmp_path, engine, there, code, told):
    """It goes on when the engine answers; when the time runs out it says why and ends it."""
    script = tmp_path / "launcher.py"
    script.write_text(block("python").replace("timeout=900", f"timeout={20 if there else 0.2}"))
    with socket.socket() as owner:
        owner.bind(("127.0.0.1", 0))
        url = engine if there else f"http://127.0.0.1:{owner.getsockname()[1]}"
        command = [sys.executable, "-c", "import time; time.sleep(0.1)"]
        done = subprocess.run(
            [sys.executable, str(script), url, *command],
            capture_output=True, text=True, timeout=30, check=False,
        )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert told in done.stdout + done.stderr


@pytest.mark.parametrize("code", [0, 3, 4, 5])
def test_the_readiness_probe_passes_on_0_and_3(tmp_path, code):
    """Busy is no reason to take a pod out; broken and misconfigured are."""
    fake = tmp_path / "staticfire"
    fake.write_text(f"#!/bin/sh\nexit {code}\n")
    fake.chmod(0o755)
    words = next(
        words for words in map(json.loads, re.findall(r"command: (\[.*\])", block("yaml")))
        if words[0] == "sh"
    )  # fmt: skip
    done = subprocess.run(words, env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, check=False)
    assert (done.returncode == 0) is (code in (0, 3))
