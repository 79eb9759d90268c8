"""What a lane and its engines have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from staticfire.errors import StaticFireError

__all__ = ["CAPABILITIES", "NO_KEY", "Engine", "Key", "Lane", "LaneFailed", "NoneLeft"]

CAPABILITIES = {
    "listing": "the engine lists its models",
    "chat": "the engine answers chat requests",
    "stream": "the engine streams chat answers",
    "refusals": "the engine says 4xx to a request that is wrong",
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


class LaneFailed(StaticFireError):
    """A lane that was named and cannot be used: nothing of the run begins."""

    def __init__(self, lane: str, told: str) -> None:
        self.told = told
        super().__init__(f"lane {lane}: {told}")


class NoneLeft(StaticFireError):
    """A scenario wants more engines than the lane has."""


@dataclass(frozen=True, slots=True)
class Key:
    """Where the key of protected engines stands: a variable's name, or a file. Never the key."""

    env: str | None = None
    file: str | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """As options of our commands."""
        return (
            *(("--api-key-env", self.env) if self.env else ()),
            *(("--api-key-file", self.file) if self.file else ()),
        )

    @property
    def headers(self) -> tuple[tuple[bytes, bytes], ...]:
        """The header that carries it, none without one. Raises `WrongInput`, without the key."""
        from staticfire.readiness.keys import key_headers  # tags of a scenario need no HTTP

        return key_headers(env=self.env, file=self.file)


NO_KEY = Key()


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
    """Which `@needs:` it meets; of a lane that asks its engines, from `prepare` on."""
    model: str
    """The model that its engines serve; "" where they serve whichever a scenario asks for."""
    key: Key
    """What its engines want to be asked with."""

    def prepare(self) -> None:
        """Look at what the run will stand on, once, before it. Raises `LaneFailed`.

        Nothing that could be asked is assumed: what cannot be asked fails the lane.
        """

    def missing(self) -> str | None:
        """Why it cannot be used here, and what to do; None when it can."""

    async def start(self, name: str, model: str, seed: int) -> Engine:
        """Start an engine that serves `model` as soon as it can. Raises `NoneLeft`."""

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
