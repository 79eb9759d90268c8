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
from staticfire.clock import NS
from staticfire.errors import StaticFireError
from staticfire.judge import Judge
from staticfire.stand.lanes import llamacpp
from staticfire.stand.lanes.gguf import WORDS, write_scripted
from staticfire.stand.lanes.llamacpp import LlamaCppLane

pytestmark = pytest.mark.realtime


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


def test_idle_words_are_holes(tmp_path):
    """A slow model has the same weights; what its idle words add is a vocabulary and no blocks."""
    write_scripted(tmp_path / "a.gguf", idle=20_000)
    size = (tmp_path / "a.gguf").stat()
    assert size.st_size > 20_000_000
    assert size.st_blocks * 512 < 6_000_000


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


def test_a_server_is_there_while_it_loads(lane):
    """Its port is open and says 503; then it loads and says the scripted words; then it is gone."""
    if lane.too_small():
        pytest.skip(lane.too_small())

    async def main():
        engine = await lane.start_loading("slow", "qwen", seed=0)
        first = await readiness.probe(engine.url, "qwen")
        waited = await readiness.wait_for([engine.url], model="qwen", timeout=30, interval=0.1)
        answer = await Judge(engine.url).chat("qwen", max_tokens=64, temperature=0)
        await engine.stop()
        last = await readiness.probe(engine.url, "qwen")
        return first, waited, answer, last

    first, waited, answer, last = asyncio.run(main())
    assert (first.verdict, first.status) == (readiness.Verdict.BUSY, 503)
    assert waited.ok
    assert waited.after > NS / 2
    assert answer.text.split() == list(WORDS)
    assert last.verdict is readiness.Verdict.UNREACHABLE


def test_a_server_that_dies_while_it_loads_is_told_with_its_log(lane, monkeypatch):
    """At once, where its port was never open."""
    monkeypatch.setattr(lane, "server", "staticfire.no_such_module")

    async def main():
        await lane.start_loading("slow", "other", seed=0)

    with pytest.raises(StaticFireError, match=r"(?s)died at its start.*No module named"):
        asyncio.run(main())


def test_a_small_machine_says_so(monkeypatch):
    """What is needed and what there is; nothing where the system does not say."""
    monkeypatch.setattr(llamacpp, "_memory", lambda: 500_000_000)
    assert LlamaCppLane().too_small() == (
        "a model that loads slowly needs 1.1 GB of memory, 0.5 GB are available"
    )
    monkeypatch.setattr(llamacpp, "_memory", lambda: None)
    assert LlamaCppLane().too_small() is None


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
