"""What a gate costs while it waits: the CPU of `staticfire gate` over workers that never come."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from bench.figure import Figure
from bench.process import ROOT, Server

__all__ = ["TINY", "measure"]

TINY = {"runs": 1, "seconds": 0.3, "count": 2, "interval": 0.1, "settle": 0.1, "deadline": 0.3}

STATES = {
    "refuses": "connection refused",
    "loads": "a listing is answered 503",
    "hangs": "listed, its chat never answers",
    "is busy": "listed, its chat is answered 503: two requests a look",
}


def measure(
    runs: int = 3,
    seconds: float = 10.0,
    count: int = 64,
    interval: float = 2.0,
    settle: float = 3.0,
    deadline: float = 8.0,
) -> list[Figure]:
    """A figure for each state in which an engine may never become ready."""
    figures = []
    for state, note in STATES.items():
        options = ["--interval", f"{interval:g}", "--probe-deadline", f"{deadline:g}"]
        shares = tuple(_share(state, count, options, settle, seconds) for _ in range(runs))
        what = f"gate over {count} workers each {interval:g} s, each {state}"
        bar = None if state == "is busy" else 1.0
        figures.append(Figure(what, "% of a core", shares, bar, note))
    return figures


def _share(state: str, count: int, options: list[str], settle: float, seconds: float) -> float:
    """CPU of the gate's process in percent of one core, its start left out."""
    with Server("waiting", count=count, state=state) as engines:
        workers = [w for p in engines.ports for w in ("--worker", f"http://127.0.0.1:{p}")]
        words = [sys.executable, "-m", "staticfire", "gate", *options]
        gate = subprocess.Popen(
            [*words, *workers, "--", "false"], cwd=ROOT, stderr=subprocess.PIPE, text=True
        )
        try:
            assert gate.stderr is not None
            for _ in range(1 + count):  # what it waits for, then a line for each worker
                assert gate.stderr.readline(), "the gate ended"
            time.sleep(settle)
            began, before = time.perf_counter(), _cpu(gate.pid)
            time.sleep(seconds)
            spent, took = _cpu(gate.pid) - before, time.perf_counter() - began
            assert gate.poll() is None, "the gate ended"
        finally:
            gate.kill()
            gate.communicate()
    return 100 * spent / took


def _cpu(pid: int) -> float:
    """CPU seconds of a process so far, to the nanosecond."""
    return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[0]) / 1e9
