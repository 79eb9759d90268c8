"""What a router under test must offer the stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

__all__ = ["RouterFactory", "RouterUnderTest"]


class RouterUnderTest(Protocol):
    """A router in the test process. It is made with the workers' URLs and the scenario's settings.

    Settings carry the names of the router's flags (`policy`, `health_check_interval_secs` …); a
    router ignores none silently: it raises `WrongInput` for what it does not have.
    """

    url: str

    async def start(self) -> None: ...

    async def stop(self) -> None: ...


@dataclass(frozen=True, slots=True)
class RouterFactory:
    """A router under test by name, imported when a scenario starts it."""

    name: str
    target: str

    def make(self, workers: Sequence[str], settings: Mapping[str, Any]) -> RouterUnderTest:
        """One router in front of `workers`; raises `WrongInput`."""
        from staticfire.stand.routers import load

        router: RouterUnderTest = load(self.target)(tuple(workers), dict(settings))
        return router
