"""Many mock engines in one process: time to start one, memory that one takes."""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import socket
import struct
import sys
import time
from pathlib import Path

from bench.figure import Figure
from bench.load import request
from bench.process import sample

__all__ = ["TINY", "TINY_FLEET", "measure", "measure_fleet", "start_all", "start_many"]

TINY = {"runs": 1, "count": 10, "fresh": False}
TINY_FLEET = {"runs": 1, "count": 10, "fresh": False}


def measure(runs: int = 5, count: int = 1000, *, fresh: bool = True) -> list[Figure]:
    got = [sample("bench.engines:start_many", fresh=fresh, count=count) for _ in range(runs)]
    start, size, asked = (tuple(run[key] for run in got) for key in ("ms", "kib", "asked_kib"))
    how = f"{count} engines in one fresh process, after one"
    return [
        Figure("start of one engine", "ms", start, 0.5, how),
        Figure("memory of one engine", "KiB", size, 15.0, "growth of the resident set"),
        Figure("the same after it answered one request", "KiB", asked),
    ]


def measure_fleet(runs: int = 3, count: int = 10_000, *, fresh: bool = True) -> list[Figure]:
    """All engines that one process has to hold, from its start."""
    got = [sample("bench.engines:start_all", fresh=fresh, count=count) for _ in range(runs)]
    start, size = (tuple(run[key] for run in got) for key in ("s", "kib"))
    how = f"{count} engines in one fresh process, imports and interpreter included"
    most = 5.0, 300.0 * 1024
    return [
        Figure(f"start of {count} engines", "s", start, most[0], how),
        Figure("resident set of that process", "KiB", size, most[1], how),
    ]


def start_all(count: int) -> dict[str, float]:
    """Start `count` engines as a fleet; the figures of all of them together."""
    began = time.perf_counter()
    return asyncio.run(_start_all(count, began))


async def _start_all(count: int, began: float) -> dict[str, float]:
    from staticfire.engine import Script
    from staticfire.engine.fleet import Fleet
    from staticfire.stand.limits import lift_open_files

    lift_open_files()
    async with Fleet.of(count, Script(model="qwen")) as fleet:
        took = time.perf_counter() - began
        await _ask(next(iter(fleet)).port)
        return {"s": took, "kib": resident() / 1024}


def start_many(count: int) -> dict[str, float]:
    """Start `count` engines, ask each once; figures for one of them."""
    return asyncio.run(_start_many(count))


async def _start_many(count: int) -> dict[str, float]:
    from staticfire.engine import MockEngine, Script
    from staticfire.stand.limits import lift_open_files

    lift_open_files()
    engines = [await MockEngine(Script(model="qwen"), name="first").start()]
    await _ask(engines[0].port)
    gc.collect()
    before, began = resident(), time.perf_counter()
    for number in range(count):
        engine = MockEngine(Script(model="qwen"), name=f"e{number:04}", seed=number)
        engines.append(await engine.start())
    took, grown = time.perf_counter() - began, resident() - before
    for engine in engines:
        await _ask(engine.port)
    asked = resident() - before
    for engine in engines:
        await engine.stop()
    kib = 1024 * count
    return {"ms": took / count * 1000, "kib": grown / kib, "asked_kib": asked / kib}


async def _ask(port: int) -> None:
    """One request; the connection ends by RST, which leaves no port in TIME_WAIT behind.

    The kernel takes milliseconds to find a free port among tens of thousands that wait.
    """
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request(max_tokens=2))
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), head
    await reader.readexactly(int(head.partition(b"content-length: ")[2].split()[0]))
    plain = writer.get_extra_info("socket")
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.close()


def resident() -> int:
    """Bytes of this process in memory; where /proc is missing, the most that there ever were."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
