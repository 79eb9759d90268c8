"""A real llama.cpp server, with the model that our own writer makes."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from staticfire import readiness
from staticfire.errors import StaticFireError
from staticfire.judge import Judge
from staticfire.stand.lanes.gguf import WORDS, write_scripted
from staticfire.stand.lanes.llamacpp import LlamaCppLane


def test_the_model_is_written_in_well_under_a_second(tmp_path):
    """Standard library only, about 1.6 MB, the same bytes each time."""
    started = time.process_time()
    write_scripted(tmp_path / "a.gguf")
    assert time.process_time() - started < 0.5
    write_scripted(tmp_path / "b.gguf")
    first = (tmp_path / "a.gguf").read_bytes()
    assert first[:4] == b"GGUF"
    assert 1_000_000 < len(first) < 2_500_000
    assert first == (tmp_path / "b.gguf").read_bytes()


@pytest.fixture(scope="module")
def lane():
    pytest.importorskip("xllamacpp")
    made = LlamaCppLane()
    yield made
    made.close()


def test_it_says_the_scripted_words(lane):
    """Every prompt gets the same words from a real transformer graph."""

    async def main():
        engine = await lane.start("a", "qwen", seed=0)
        answer = await Judge(engine.url).chat("qwen", max_tokens=64, temperature=0)
        await engine.stop()
        return answer

    assert asyncio.run(main()).text.split() == list(WORDS)


def test_a_strict_probe_passes_on_it(lane):
    """Readiness of a real engine, by the strictest rule."""

    async def main():
        engine = await lane.start("a", "qwen", seed=0)
        evidence = await readiness.probe(engine.url, "qwen", accept="strict")
        await engine.stop()
        return evidence

    assert asyncio.run(main()).verdict is readiness.Verdict.SERVING


def test_a_server_is_lent_again(lane):
    """A second scenario gets the server of the first: starting costs a second."""

    async def main():
        first = await lane.start("a", "qwen", seed=0)
        await first.stop()
        second = await lane.start("b", "qwen", seed=0)
        third = await lane.start("c", "qwen", seed=0)
        await second.stop()
        await third.stop()
        return first.url, second.url, third.url

    first, second, third = asyncio.run(main())
    assert first == second
    assert third != second


def test_a_server_that_dies_at_its_start_is_told_with_its_log(lane, tmp_path, monkeypatch):
    """At once, with the log's tail: no wait for a deadline."""
    wrong = tmp_path / "wrong.gguf"
    wrong.write_bytes(b"no model")
    monkeypatch.setattr(lane, "_model", lambda: wrong)

    async def main():
        await lane.start("a", "other", seed=0)

    with pytest.raises(StaticFireError, match=r"(?s)died at its start.*model loading error"):
        asyncio.run(main())


def test_a_server_dies_with_its_parent():
    """A killed run leaves no process behind."""
    pytest.importorskip("xllamacpp")
    program = """
        import asyncio, time
        from staticfire.stand.lanes.llamacpp import LlamaCppLane

        lane = LlamaCppLane()
        asyncio.run(lane.start("a", "qwen", seed=0))
        print(lane._all[0]._process.pid, flush=True)
        time.sleep(60)
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True
    ) as parent:
        child = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    assert _ended(child, within=5.0)


def _ended(pid: int, within: float) -> bool:
    """Whether a process that is not ours to wait for ends in time."""
    ends = time.monotonic() + within
    while time.monotonic() < ends:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False
