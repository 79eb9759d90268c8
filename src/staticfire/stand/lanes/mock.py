"""The lane of mock engines: everything can be asked of them, in virtual time."""

from __future__ import annotations

import sys

from staticfire.engine import Answers, Loading, MockEngine, Script, Serving
from staticfire.stand.lanes.base import CAPABILITIES, NO_KEY

__all__ = ["MockLane"]

LOAD = 3.0
"""Seconds that an engine takes to load which takes seconds to load."""


class MockLane:
    """Mock engines with one personality."""

    kind = "mock"
    virtual = True
    capabilities = frozenset(CAPABILITIES)
    model = ""
    key = NO_KEY

    def __init__(self, personality: str = "vllm") -> None:
        self.personality = personality

    def prepare(self) -> None:
        """Nothing is asked: what it can do is known."""

    def missing(self) -> str | None:
        return None

    async def start(self, name: str, model: str, seed: int) -> MockEngine:
        engine = MockEngine(Script(model=model, personality=self.personality), name=name, seed=seed)
        await engine.start()
        return engine

    def too_small(self) -> str | None:
        return None

    async def start_loading(self, name: str, model: str, seed: int) -> MockEngine:
        """As a llama.cpp server: 503 to everything until it has loaded."""
        no = Answers(503)
        life = [Loading(seconds=LOAD, health=503, listed=no, chat=no), Serving()]
        script = Script(model=model, personality=self.personality, life=life)
        engine = MockEngine(script, name=name, seed=seed)
        await engine.start()
        return engine

    async def start_unloaded(self, name: str, model: str, seed: int) -> MockEngine:
        """As llama.cpp's router mode: listed and healthy at once, chat waits for the load."""
        life = [Loading(seconds=LOAD), Serving()]
        engine = MockEngine(
            Script(model=model, personality="llamacpp-router", life=life), name=name, seed=seed
        )
        await engine.start()
        return engine

    def command(self, model: str) -> tuple[str, ...]:
        """`staticfire engine`."""
        words = ("engine", "--model", model, "--personality", self.personality, "--port", "{port}")
        return (sys.executable, "-m", "staticfire", *words)

    def close(self) -> None:
        pass
