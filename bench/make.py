"""How long the two commands of a newcomer take once everything is installed."""

from __future__ import annotations

import subprocess
import time

from bench.figure import Figure
from bench.process import ROOT

__all__ = ["demo", "test"]


def demo() -> list[Figure]:
    """`make demo`."""
    return _time("demo")


def test() -> list[Figure]:
    """`make test`."""
    return _time("test")


def _time(target: str) -> list[Figure]:
    _make(".venv/installed")
    began = time.perf_counter()
    _make(target)
    took = time.perf_counter() - began
    return [Figure(f"make {target}, after the installation", "s", (took,), 60.0, "one run")]


def _make(target: str) -> None:
    if subprocess.run(["make", "-s", target], cwd=ROOT, check=False).returncode:
        raise SystemExit(f"make {target} failed: nothing is measured")
