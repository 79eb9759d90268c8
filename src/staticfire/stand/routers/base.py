"""What a router under test must offer the stand."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from staticfire.errors import WrongInput

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
    """A router under test by name; its class is imported when the run begins."""

    name: str
    target: str

    def load(self) -> Any:
        """Its class; raises `WrongInput` when that cannot be imported."""
        module, _, name = self.target.partition(":")
        try:
            return getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError) as error:
            raise WrongInput(
                f"router {self.name}: {self.target}",
                expected="a class that can be imported",
                found=str(error),
            ) from error

    def make(self, workers: Sequence[str], settings: Mapping[str, Any]) -> RouterUnderTest:
        """One router in front of `workers`; raises `WrongInput`."""
        router: RouterUnderTest = self.load()(tuple(workers), dict(settings))
        return router
