"""CPU of one JSON answer: a mock engine beside bare aiohttp, in alternation.

Servers and client share one core, where the client never preempts a server (Linux): each server
finds all connections ready in each turn, and is charged for no wake-up of another core.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from bench.figure import Figure
from bench.load import closed_loop
from bench.process import Server

__all__ = ["TINY", "measure"]

TINY = {"runs": 1, "count": 20, "connections": 2}


def measure(runs: int = 9, count: int = 4000, connections: int = 32) -> list[Figure]:
    with (
        _one_core(),
        Server("engine") as engine,
        Server("written") as written,
        Server("constant") as constant,
    ):
        servers = (engine, written, constant)
        for server in servers:
            assert server.port  # it serves
        with _patient():
            for server in servers:
                closed_loop(server.port, count // 4, connections)  # warm, not counted
            rounds = [
                [_cost(server, count, connections) for server in servers] for _ in range(runs)
            ]
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


@contextmanager
def _one_core() -> Iterator[None]:
    """Keep this process, and those it starts, on one core."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def _patient() -> Iterator[None]:
    """Let this process not preempt the one that it has just sent something to."""
    if not hasattr(os, "SCHED_BATCH"):
        yield
        return
    before, usual = os.sched_getscheduler(0), os.sched_getparam(0)
    os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    try:
        yield
    finally:
        os.sched_setscheduler(0, before, usual)
