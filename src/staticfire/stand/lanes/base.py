"""What a lane and its engines have in common."""

from __future__ import annotations

from typing import Protocol

__all__ = ["CAPABILITIES", "Engine", "Lane"]

CAPABILITIES = {
    "listing": "the engine lists its models",
    "chat": "the engine answers chat requests",
    "stream": "the engine streams chat answers",
    "faults": "the engine misbehaves on purpose",
    "clock": "time passes when the scenario says so",
    "restart": "the engine can be killed and started again",
    "metrics": "the engine exports its load",
    "sleep": "the engine can sleep and wake",
    "overload": "the engine refuses when it is full",
    "loading": "the engine can take seconds to load",
    "unloaded": "the engine can list a model before it has loaded it",
    "command": "the engine is what a command line starts",
    "virtual": "time costs nothing and is exact",
}
"""What a scenario may need of its engines (`@needs:…`), and what that means."""


class Engine(Protocol):
    """An engine of any lane: mock, or a process."""

    @property
    def name(self) -> str: ...

    @property
    def url(self) -> str: ...

    async def stop(self) -> None:
        """End it; nothing is left."""

    def timeline(self) -> list[str]:
        """What it did and saw, for a failing scenario."""


class Lane(Protocol):
    """Where engines come from."""

    kind: str
    virtual: bool
    """Whether its engines can live in virtual time."""
    personality: str
    """Whose dialect its engines speak."""
    capabilities: frozenset[str]
    """Which `@needs:` it meets."""

    def missing(self) -> str | None:
        """Why it cannot be used here, and what to do; None when it can."""

    async def start(self, name: str, model: str, seed: int) -> Engine:
        """Start an engine that serves `model` as soon as it can."""

    def too_small(self) -> str | None:
        """Why this machine cannot hold an engine that loads slowly; None when it can."""

    async def start_loading(self, name: str, model: str, seed: int) -> Engine:
        """Start an engine that takes seconds to load `model`: its port is open, it does not serve."""

    async def start_unloaded(self, name: str, model: str, seed: int) -> Engine:
        """Start an engine that lists `model`, and loads it for the first request in seconds."""

    def command(self, model: str) -> tuple[str, ...]:
        """What starts an engine of `model` outside of the lane, on port `{port}`."""

    def close(self) -> None:
        """End what outlives a scenario."""
