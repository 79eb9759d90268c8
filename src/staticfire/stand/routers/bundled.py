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
        legs = "prefill" in settings  # these have the workers then, each in its role
        chosen: dict[str, Any] = {"port": 0, "worker_urls": () if legs else tuple(workers)}
        chosen |= {name: _value(name, value) for name, value in settings.items()}
        self.router = Router(Settings(**chosen))
        self.url = ""

    async def start(self) -> None:
        await self.router.start()
        self.url = self.router.url

    async def stop(self) -> None:
        await self.router.stop()

    async def drain(self) -> None:
        """What SIGTERM does to the process."""
        await self.router.drain()

    def breakers(self) -> dict[str, str]:
        """The state of each worker's breaker, by its URL."""
        return {worker.url: str(worker.breaker.state) for worker in self.router.workers}


def _statuses(text: str) -> frozenset[int]:
    return frozenset(int(status) for status in text.replace(",", " ").split())


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in map(str.strip, text.split(",")) if word)


READERS: dict[str, Callable[[str], Any]] = {
    "str": str,
    "str | None": str,
    "int": int,
    "int | None": int,
    "float": float,
    "float | None": float,
    "bool": YES_NO.__getitem__,
    "frozenset[int]": _statuses,
    "tuple[str, ...]": _words,
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
