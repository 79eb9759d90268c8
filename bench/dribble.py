"""What a byte costs that a mock engine dribbles in virtual time."""

from __future__ import annotations

import asyncio
import time

from bench.figure import Figure
from bench.load import request
from staticfire.clock.virtual import run
from staticfire.engine import Dribbles, MockEngine, Rule, Script

__all__ = ["TINY", "measure"]

TINY = {"runs": 1, "tokens": 5}


def measure(runs: int = 7, tokens: int = 500) -> list[Figure]:
    values = tuple(run(_dribble(tokens), budget=1e9) for _ in range(runs))
    note = "one byte a second, engine and reader in one process"
    return [Figure("one dribbled byte", "µs", values, None, note)]


async def _dribble(tokens: int) -> float:
    """Microseconds for one byte of a JSON answer, head included."""
    rule = Rule("POST /v1/chat/completions", do=Dribbles(bytes=1, every=1.0))
    async with MockEngine(Script(model="qwen", rules=[rule], tokens=tokens)) as engine:
        reader, writer = await asyncio.open_connection("127.0.0.1", engine.port)
        writer.write(request().replace(b"\r\n", b"\r\nConnection: close\r\n", 1))
        began = time.perf_counter()
        count = len(await reader.read())
        took = time.perf_counter() - began
        writer.close()
        assert engine.clock.now() >= (count - 1) * 1_000_000_000, "the pace was not kept"
    return took / count * 1e6
