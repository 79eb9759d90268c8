"""CPU of one paced token: a mock engine beside bare aiohttp, in real time."""

from __future__ import annotations

from bench.figure import Figure
from bench.load import streams
from bench.process import Server

__all__ = ["TINY", "measure"]

TINY = {"runs": 1, "count": 2, "tokens": 5, "gap": 0.002}


def measure(runs: int = 5, count: int = 128, tokens: int = 100, gap: float = 0.02) -> list[Figure]:
    with (
        Server("engine", per_token=gap, tokens=tokens) as engine,
        Server("stream", per_token=gap, tokens=tokens) as bare,
    ):
        ours, theirs = [], []
        for server in (engine, bare):
            streams(server.port, count, 5 if server is engine else tokens)  # warm, not counted
        for _ in range(runs):
            ours.append(_cost(engine, count, tokens))
            theirs.append(_cost(bare, count, tokens))
    load = f"{count} streams, a token each {gap * 1000:g} ms"
    return [
        Figure("paced token of a mock engine", "µs CPU", tuple(ours), 40.0, load),
        Figure("paced token of bare aiohttp, constant bytes", "µs CPU", tuple(theirs)),
    ]


def _cost(server: Server, count: int, tokens: int) -> float:
    """CPU microseconds of the server's process for one token, its share of the request included."""
    before = server.cpu()
    came = streams(server.port, count, tokens)
    assert came >= count * tokens, f"expected {count * tokens} tokens, {came} came"
    return (server.cpu() - before) / (count * tokens) * 1e6
