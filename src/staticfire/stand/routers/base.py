"""What a router under test must offer the stand."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from staticfire.errors import WrongInput
from staticfire.stand.routers.entry import CAPABILITIES

__all__ = ["ClassFactory", "RouterFactory", "RouterUnderTest"]


class RouterUnderTest(Protocol):
    """A router of one scenario. It is made with the workers' URLs and the scenario's settings.

    Settings carry the names of the router's flags (`policy`, `health_check_interval_secs` …); a
    router ignores none silently: it raises `WrongInput` or `Unsupported` for what it does not have.
    """

    url: str

    async def start(self) -> None: ...

    async def stop(self) -> None: ...


class RouterFactory(Protocol):
    """A router under test by name."""

    @property
    def name(self) -> str: ...

    @property
    def time_scale(self) -> float | None:
        """Scenario seconds in a real one; None for a router that lives in virtual time too."""

    @property
    def capabilities(self) -> frozenset[str]:
        """What it has, of `entry.CAPABILITIES`."""

    def counting(self) -> RouterFactory:
        """The same for a scenario that counts attempts."""

    def load(self) -> Any:
        """Look for it; raises `WrongInput` when it is not here."""

    def version(self) -> str:
        """Its exact version."""

    def make(self, workers: Sequence[str], settings: Mapping[str, Any]) -> RouterUnderTest:
        """One router in front of `workers`; raises `WrongInput` or `Unsupported`."""


@dataclass(frozen=True, slots=True)
class ClassFactory:
    """A router that lives in the test process; its class is imported when the run begins."""

    name: str
    target: str
    flaws: tuple[str, ...] | None = None
    """Of the naive router: which of its flaws are on; None for all, and for any other class."""
    time_scale: float | None = None
    capabilities: frozenset[str] = frozenset(CAPABILITIES)
    """It is not asked: its promises are held against it."""

    def counting(self) -> ClassFactory:
        return self

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

    def version(self) -> str:
        from staticfire import __version__

        return __version__ if self.name == "bundled" else "in this process"

    def make(self, workers: Sequence[str], settings: Mapping[str, Any]) -> RouterUnderTest:
        """One router in front of `workers`; raises `WrongInput`."""
        chosen = {} if self.flaws is None else {"flaws": self.flaws}
        router: RouterUnderTest = self.load()(tuple(workers), dict(settings), **chosen)
        return router
