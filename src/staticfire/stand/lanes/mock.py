"""The lane of mock engines: everything can be asked of them, in virtual time."""

from __future__ import annotations

from staticfire.engine import MockEngine, Script
from staticfire.stand.lanes.base import CAPABILITIES

__all__ = ["MockLane"]


class MockLane:
    """Mock engines with one personality."""

    kind = "mock"
    virtual = True
    capabilities = frozenset(CAPABILITIES)

    def __init__(self, personality: str = "vllm") -> None:
        self.personality = personality

    def missing(self) -> str | None:
        return None

    async def start(self, name: str, model: str, seed: int) -> MockEngine:
        engine = MockEngine(Script(model=model, personality=self.personality), name=name, seed=seed)
        await engine.start()
        return engine

    def close(self) -> None:
        pass
