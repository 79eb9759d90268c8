"""What the harness adds to the start and the end of a router that is a program."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from bench.figure import Figure
from staticfire.stand.loops import RealLoop
from staticfire.stand.routers.entry import read_entry
from staticfire.stand.routers.process import ProcessFactory

__all__ = ["TINY", "measure"]

TINY = {"runs": 1}
PROGRAM = """
import socket, sys, time
began = time.monotonic()
with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as server:
    print(began, time.monotonic(), flush=True)
    while True:
        server.accept()[0].close()
"""


def measure(runs: int = 9) -> list[Figure]:
    """A program that binds at once and ends at a signal: all but its own time is the harness's.

    The start of its interpreter counts as the harness's, so the figure is a little too high.
    """
    starts, stops = [], []
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "router.py")
        program.write_text(PROGRAM, encoding="utf-8")
        line = f"{sys.executable} -I -S {program} {{port}} {{workers}}"
        factory = ProcessFactory(read_entry("tiny", {"command": line}, "[tiny]"))
        for _ in range(runs):
            start, stop = _once(factory)
            starts.append(start)
            stops.append(stop)
    return [
        Figure("added to the start of a router that is a program", "s", tuple(starts), 1.0),
        Figure("its end", "s", tuple(stops), 1.0),
    ]


def _once(factory: ProcessFactory) -> tuple[float, float]:
    loop = RealLoop(1.0)
    try:
        asked = time.monotonic()
        router = factory.make(["http://127.0.0.1:9"], {})
        loop.run(router.start())
        ready = time.monotonic()
        began, bound = map(float, router.log()[0].split())
        loop.run(router.stop())
        return ready - asked - (bound - began), time.monotonic() - ready
    finally:
        loop.close()
