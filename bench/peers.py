"""The bundled router beside other routers: the same load, in turn, in one run.

    STATICFIRE_PEERS=DIR python bench/run.py peers

`DIR/NAME/bin` holds a peer that was installed into a venv of its own; one on PATH is found too. Ours
compiled is what `make compiled` leaves.
Each round starts every router afresh, one after another, so that noise falls on all of them. The
router has a core to itself; load and engine share the other. CPU is that of the router's whole
process tree.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench import peer_load, tree
from bench.figure import Figure
from bench.lean_engine import note
from bench.process import ROOT
from staticfire.stand.ports import free_ports

__all__ = ["TINY", "measure"]

TINY = {
    "runs": 1,
    "names": ("staticfire",),
    "seconds": 0.2,
    "connections": 2,
    "streams": 4,
    "events": 40,
    "settle": 0.1,
}

START_LIMIT = 60.0
BURST = 128
PACE = 0.1

JSON = peer_load.said(stream=False)
BURSTS = peer_load.said(stream=True, note=note(0, BURST))


@dataclass(frozen=True)
class Peer:
    """How a router is started; `words` is the command line after the executable."""

    executable: str
    words: str
    environment: dict[str, str] = field(default_factory=dict)


PEERS = {
    "staticfire": Peer("", "--worker-urls {worker} --port {port} --log-level error --loop uvloop"),
    "staticfire, compiled": Peer(
        str(ROOT / ".venv-compiled/bin/staticfire"),
        "router --worker-urls {worker} --port {port} --log-level error --loop uvloop",
    ),
    "vllm-router": Peer(
        "vllm-router",
        "--host 127.0.0.1 --port {port} --worker-urls {worker} --policy round_robin"
        " --log-level error --prometheus-host 127.0.0.1 --prometheus-port {metrics}",
    ),
    "sglang-router": Peer(
        "sglang-router",
        "launch --host 127.0.0.1 --port {port} --worker-urls {worker} --policy round_robin"
        " --log-level error --prometheus-host 127.0.0.1 --prometheus-port {metrics}",
    ),
    "smg": Peer(
        "smg",
        "launch --host 127.0.0.1 --port {port} --worker-urls {worker} --policy round_robin"
        " --log-level error --prometheus-host 127.0.0.1 --prometheus-port {metrics}",
    ),
}
BARS = {
    ("JSON request", "vllm-router"): 1.0,
    ("JSON request", "sglang-router"): 0.8,
    ("burst of 128 events", "vllm-router"): 0.25,
    ("memory of an open stream", "vllm-router"): 0.3,
    ("added at 200 requests a second, p50", "vllm-router"): 1.0,
}
"""The most that ours may be of a peer's median."""


def measure(
    runs: int = 5,
    names: Sequence[str] = tuple(PEERS),
    seconds: float = 2.0,
    connections: int = 32,
    streams: int = 1000,
    events: int = 90,
    settle: float = 4.0,
) -> list[Figure]:
    """Every router that is here, `runs` rounds of all of them."""
    here = {name: found for name in names if (found := _command(name)) is not None}
    came: dict[tuple[str, str], list[float]] = {}
    cores = sorted(os.sched_getaffinity(0))
    mine, theirs = cores[:1], cores[-1:]
    os.sched_setaffinity(0, mine)
    try:
        for _ in range(runs):
            with _engine() as engine:
                direct = asyncio.run(_median_wait(engine, seconds))
                for name, command in here.items():
                    with _router(name, command, engine, theirs) as (port, pid, started):
                        told = asyncio.run(
                            _ask(port, pid, seconds, connections, streams, events, settle, direct)
                        )
                    told["start to the first answer", "s"] = started
                    for (what, unit), value in told.items():
                        came.setdefault((f"{name}: {what}", unit), []).append(value)
    finally:
        os.sched_setaffinity(0, cores)
    return [*_ratios(came, here), *_figures(came)]


async def _ask(
    port: int, pid: int, seconds: float, connections: int, streams: int, events: int,
    settle: float, direct: float,
) -> dict[tuple[str, str], float]:  # fmt: skip
    told: dict[tuple[str, str], float] = {}
    told["memory when idle", "MiB"] = tree.memory(pid) / 1024
    await peer_load.closed(port, JSON, connections, seconds / 2)  # warm, not counted
    for what, said in (("JSON request", JSON), (f"burst of {BURST} events", BURSTS)):
        before = tree.cpu(pid)
        count = await peer_load.closed(port, said, connections, seconds)
        assert not count.bad, f"{count.bad} of {count.answers} answers were not 200"
        told[what, "µs CPU"] = (tree.cpu(pid) - before) / count.answers * 1e6
    told["added at 200 requests a second, p50", "ms"] = max(
        0.001, await _median_wait(port, seconds) - direct
    )
    before = tree.memory(pid)
    looks: list[tuple[float, float, float]] = []
    count = await peer_load.hold(
        port,
        peer_load.said(stream=True, note=note(PACE, events)),
        streams,
        settle,
        lambda now: looks.append((now, tree.cpu(pid), tree.memory(pid))),
    )
    assert count.answers == streams, f"{count.answers} of {streams} streams were whole"
    (began, first, held), (ended, last, _) = looks
    told[f"{streams} streams, {streams / PACE:.0f} chunks a second", "% of a core"] = (
        (last - first) / (ended - began) * 100
    )
    told["memory of an open stream", "KiB"] = max(0.001, (held - before) / streams)
    return told


async def _median_wait(port: int, seconds: float) -> float:
    """The median answer time at 200 requests a second, in ms."""
    count = await peer_load.open_loop(port, JSON, 200, max(seconds, 0.5))
    return statistics.median(count.took) * 1000


def _ratios(came: dict[tuple[str, str], list[float]], here: dict[str, list[str]]) -> list[Figure]:
    """Ours to a peer's, round by round."""
    out = []
    for (what, peer), bar in BARS.items():
        if peer not in here:
            continue
        for us in (name for name in here if name.startswith("staticfire")):
            ((ours, theirs),) = (
                (came[f"{us}: {what}", unit], came[f"{peer}: {what}", unit])
                for who, unit in came
                if who == f"{us}: {what}"
            )
            ratio = tuple(a / b for a, b in zip(ours, theirs, strict=True))
            out.append(Figure(f"{what}: {us} to {peer}", "times", ratio, bar))
    return out


def _figures(came: dict[tuple[str, str], list[float]]) -> list[Figure]:
    bars = {"start to the first answer": 0.5, "memory when idle": 60}
    out = []
    for (what, unit), values in sorted(came.items()):
        name, _, of = what.partition(": ")
        bar = bars.get(of, 35 if unit == "% of a core" else None)
        ours = name.startswith("staticfire")
        out.append(Figure(what, unit, tuple(values), bar if ours else None))
    return out


def _command(name: str) -> list[str] | None:
    """The command line of a router that is here, with places for ports; None without it."""
    peer = PEERS[name]
    if not peer.executable:
        return [sys.executable, "-m", "staticfire", "router", *peer.words.split()]
    folder = os.environ.get("STATICFIRE_PEERS", "")
    path = shutil.which(peer.executable, path=str(Path(folder, peer.executable, "bin")))
    path = path or shutil.which(peer.executable)  # one with a slash is looked for there only
    return None if path is None else [path, *peer.words.split()]


@contextlib.contextmanager
def _engine() -> Iterator[int]:
    words = [sys.executable, "-m", "bench.lean_engine"]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline())
        process.communicate()


@contextlib.contextmanager
def _router(
    name: str, command: list[str], worker: int, cores: Sequence[int]
) -> Iterator[tuple[int, int, float]]:
    """Its port, its pid, the seconds from its start to its first 200; gone afterwards."""
    port, metrics = free_ports(2)
    words = [
        word.format(worker=f"http://127.0.0.1:{worker}", port=port, metrics=metrics)
        for word in command
    ]
    words = ["taskset", "-c", ",".join(map(str, cores)), *words]
    with tempfile.TemporaryFile() as log:
        began = time.perf_counter()
        process = subprocess.Popen(words, cwd=ROOT, stdout=log, stderr=log, start_new_session=True)
        try:
            while not asyncio.run(peer_load.once(port, JSON, 2.0)):
                if process.poll() is not None or time.perf_counter() - began > START_LIMIT:
                    log.seek(0)
                    raise RuntimeError(f"{name} does not answer: {log.read()[-2000:]!r}")
                time.sleep(0.005)
            yield port, process.pid, time.perf_counter() - began
        finally:
            for number in (signal.SIGTERM, signal.SIGKILL):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, number)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(6)
