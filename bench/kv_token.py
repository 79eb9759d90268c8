"""CPU of one paced token whose KV blocks are simulated, beside one without blocks, in real time."""

from __future__ import annotations

from bench.figure import Figure
from bench.load import streams
from bench.process import Server

__all__ = ["TINY", "measure"]

TINY = {"runs": 1, "count": 2, "tokens": 5, "gap": 0.002}

BLOCK = 4
"""Tokens of a block: a quarter of the default, so that a new block is asked for often."""
PROMPT = 18 + 23
"""Prompt tokens of the load's request."""


def measure(runs: int = 5, count: int = 128, tokens: int = 100, gap: float = 0.02) -> list[Figure]:
    wanted = count * -(-(PROMPT + tokens) // BLOCK)
    tight = {"blocks": wanted * 3 // 4, "block_size": BLOCK}
    roomy = {"blocks": wanted, "block_size": BLOCK}
    with (
        Server("engine", per_token=gap, tokens=tokens, **roomy) as calm,
        Server("engine", per_token=gap, tokens=tokens, **tight) as fought,
        Server("engine", per_token=gap, tokens=tokens) as plain,
    ):
        servers = (calm, fought, plain)
        for server in servers:
            streams(server.port, count, 5)  # warm, not counted
        rounds = [[_cost(server, count, tokens) for server in servers] for _ in range(runs)]
    ours, pressed, without = (tuple(costs) for costs in zip(*rounds, strict=True))
    load = f"{count} streams, a token each {gap * 1000:g} ms, blocks of {BLOCK} tokens"
    return [
        Figure("KV-simulated token", "µs CPU", ours, 60.0, load),
        Figure("the same with a quarter too few blocks, so with preemptions", "µs CPU", pressed),
        Figure("paced token without KV blocks", "µs CPU", without),
    ]


def _cost(server: Server, count: int, tokens: int) -> float:
    """CPU microseconds of the server's process for one token, its share of the request included."""
    before = server.cpu()
    came = streams(server.port, count, tokens)
    assert came >= count * tokens, f"expected {count * tokens} tokens, {came} came"
    return (server.cpu() - before) / (count * tokens) * 1e6
