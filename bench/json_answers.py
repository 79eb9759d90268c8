"""CPU of one JSON answer: a mock engine beside bare aiohttp, in alternation."""

from __future__ import annotations

from bench.figure import Figure
from bench.load import closed_loop
from bench.process import Server

__all__ = ["TINY", "measure"]

TINY = {"runs": 1, "count": 20, "connections": 2}


def measure(runs: int = 9, count: int = 4000, connections: int = 32) -> list[Figure]:
    with Server("engine") as engine, Server("bare") as bare:
        ours, theirs = [], []
        for server in (engine, bare):
            closed_loop(server.port, count // 4, connections)  # warm, not counted
        for _ in range(runs):
            ours.append(_cost(engine, count, connections))
            theirs.append(_cost(bare, count, connections))
    ratios = tuple(a / b for a, b in zip(ours, theirs, strict=True))
    load = f"{connections} keep-alive connections, {count} requests a run"
    return [
        Figure("JSON answer against bare aiohttp web.Server", "times", ratios, 1.5, load),
        Figure("JSON answer of a mock engine", "µs CPU", tuple(ours)),
        Figure("JSON answer of bare aiohttp, constant bytes", "µs CPU", tuple(theirs)),
    ]


def _cost(server: Server, count: int, connections: int) -> float:
    """CPU microseconds of the server's process for one request."""
    before = server.cpu()
    closed_loop(server.port, count, connections)
    return (server.cpu() - before) / count * 1e6
