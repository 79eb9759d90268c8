"""The bundled router, in the test process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from staticfire.errors import WrongInput, did_you_mean
from staticfire.router import Router, Settings

__all__ = ["BundledRouter"]

YES_NO = {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False}


class BundledRouter:
    """`staticfire.router.Router` with a scenario's settings.

    Values from a Gherkin table are words: they are read as what the setting is.
    """

    def __init__(self, workers: Sequence[str], settings: Mapping[str, Any]) -> None:
        chosen: dict[str, Any] = {"port": 0, "worker_urls": tuple(workers)}
        chosen |= {name: _value(name, value) for name, value in settings.items()}
        self.router = Router(Settings(**chosen))
        self.url = ""

    async def start(self) -> None:
        await self.router.start()
        self.url = self.router.url

    async def stop(self) -> None:
        await self.router.stop()

    def breakers(self) -> dict[str, str]:
        """The state of each worker's breaker, by its URL."""
        return {worker.url: str(worker.breaker.state) for worker in self.router.workers}


def _statuses(text: str) -> frozenset[int]:
    return frozenset(int(status) for status in text.replace(",", " ").split())


READERS: dict[str, Callable[[str], Any]] = {
    "str": str,
    "int": int,
    "int | None": int,
    "float": float,
    "bool": YES_NO.__getitem__,
    "frozenset[int]": _statuses,
}
"""How a word becomes a setting, by the setting's type."""


def _value(name: str, value: Any) -> Any:
    """A setting as what it is; raises `WrongInput` for a name or a word that is none."""
    known = {field.name: str(field.type) for field in fields(Settings) if field.type in READERS}
    if name not in known:
        raise WrongInput(
            f"router setting {name}",
            expected="a setting of the bundled router that words can say",
            found=f'"{name}"',
            do=did_you_mean(name, known),
        )
    if not isinstance(value, str):
        return value
    try:
        return READERS[known[name]](value)
    except (KeyError, ValueError):
        raise WrongInput(
            f"router setting {name}", expected=f"a value of type {known[name]}", found=f'"{value}"'
        ) from None
