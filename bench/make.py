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
    subprocess.run(["make", "-s", ".venv/installed"], cwd=ROOT, check=True)
    began = time.perf_counter()
    subprocess.run(["make", "-s", target], cwd=ROOT, check=True)
    took = time.perf_counter() - began
    return [Figure(f"make {target}, after the installation", "s", (took,), 60.0, "one run")]
