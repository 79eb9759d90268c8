"""The option `--latch`: how long serving evidence is good without a new probe."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite, isinf
from typing import Any, TypeVar

import click

__all__ = ["FOREVER", "Latch", "latch_option", "latched"]

F = TypeVar("F", bound=Callable[..., Any])

FOREVER = inf


class Latch(click.ParamType[float]):
    """Seconds, or `forever`."""

    name = "latch"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        if value in ("forever", FOREVER):
            return FOREVER
        try:
            seconds = float(value)
        except ValueError:
            seconds = -1.0
        if not isfinite(seconds) or seconds < 0:
            self.fail(f"expected seconds, 0 or more, or forever, found {value!r}", param, ctx)
        return seconds


def latch_option(command: F) -> F:
    """Add `--latch` (`latch`, in seconds, FOREVER for the word) to a command."""
    return click.option(
        "--latch", type=Latch(), default=300.0, show_default="300", metavar="S|forever",
        help="Seconds after an answer in which only listings are sent, then one probe; forever: "
        "never one again.",
    )(command)  # fmt: skip


def latched(latch: float) -> dict[str, Any]:
    """What `readiness.Settings` is told."""
    return {"latch_forever": True} if isinf(latch) else {"fresh_for": latch}
