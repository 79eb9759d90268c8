"""The bundled router, in the test process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
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


def _value(name: str, value: Any) -> Any:
    """A setting's value in the type of its default."""
    known = {field.name: field.default for field in fields(Settings)}
    if name not in known:
        raise WrongInput(
            f"router setting {name}",
            expected="a setting of the bundled router",
            found=f'"{name}"',
            do=did_you_mean(name, known),
        )
    default = known[name]
    if not isinstance(value, str) or default is MISSING or isinstance(default, str):
        return value
    try:
        return YES_NO[value] if isinstance(default, bool) else type(default)(value)
    except (KeyError, ValueError):
        raise WrongInput(
            f"router setting {name}",
            expected=f"a value like {default!r}",
            found=f'"{value}"',
        ) from None
