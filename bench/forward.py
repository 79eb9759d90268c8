"""CPU of the bundled router for a request that it carries."""

from __future__ import annotations

from bench.figure import Figure
from bench.load import closed_loop, streams
from bench.process import Server

__all__ = ["TINY", "measure"]

TINY = {"runs": 1, "count": 20, "connections": 2, "parallel": 2, "tokens": 5, "gap": 0.002}


def measure(
    runs: int = 5,
    count: int = 4000,
    connections: int = 32,
    parallel: int = 128,
    tokens: int = 100,
    gap: float = 0.02,
) -> list[Figure]:
    with Server("engine") as fast, Server("engine", per_token=gap, tokens=tokens) as paced:
        before = [f"http://127.0.0.1:{engine.port}" for engine in (fast, paced)]
        with (
            Server("router", workers=before[:1]) as json,
            Server("router", workers=before[1:]) as sse,
        ):
            closed_loop(json.port, count // 4, connections)  # warm, not counted
            streams(sse.port, parallel, 5)
            wholes, passed = [], []
            for _ in range(runs):
                start = json.cpu()
                closed_loop(json.port, count, connections)
                wholes.append((json.cpu() - start) / count * 1e6)
                start = sse.cpu()
                came = streams(sse.port, parallel, tokens)
                assert came >= parallel * tokens, f"{came} tokens came"
                passed.append((sse.cpu() - start) / (parallel * tokens) * 1e6)
    return [
        Figure(
            "JSON request through the bundled router",
            "µs CPU",
            tuple(wholes),
            None,
            f"{connections} keep-alive connections, one worker, asyncio's own loop",
        ),
        Figure(
            "paced token through the bundled router",
            "µs CPU",
            tuple(passed),
            None,
            f"{parallel} streams, a token each {gap * 1000:g} ms",
        ),
    ]
