"""CPU of one JSON answer: a mock engine beside bare aiohttp, in alternation."""

from __future__ import annotations

from bench.figure import Figure
from bench.load import closed_loop
from bench.process import Server

__all__ = ["TINY", "measure"]

TINY = {"runs": 1, "count": 20, "connections": 2}


def measure(runs: int = 9, count: int = 4000, connections: int = 32) -> list[Figure]:
    with Server("engine") as engine, Server("written") as written, Server("constant") as constant:
        servers = (engine, written, constant)
        for server in servers:
            closed_loop(server.port, count // 4, connections)  # warm, not counted
        rounds = [[_cost(server, count, connections) for server in servers] for _ in range(runs)]
    ours, by_hand, least = (tuple(costs) for costs in zip(*rounds, strict=True))
    load = f"{connections} keep-alive connections, {count} requests a run"
    return [
        Figure(
            "JSON answer against bare aiohttp that parses and answers JSON",
            "times",
            _ratios(ours, by_hand),
            1.5,
            load,
        ),
        Figure(
            "the same against bare aiohttp that parses nothing and says constant bytes",
            "times",
            _ratios(ours, least),
        ),
        Figure("JSON answer of a mock engine", "µs CPU", ours),
        Figure("JSON answer of bare aiohttp, parsed and written", "µs CPU", by_hand),
        Figure("JSON answer of bare aiohttp, constant bytes", "µs CPU", least),
    ]


def _ratios(ours: tuple[float, ...], theirs: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(a / b for a, b in zip(ours, theirs, strict=True))


def _cost(server: Server, count: int, connections: int) -> float:
    """CPU microseconds of the server's process for one request."""
    before = server.cpu()
    closed_loop(server.port, count, connections)
    return (server.cpu() - before) / count * 1e6
