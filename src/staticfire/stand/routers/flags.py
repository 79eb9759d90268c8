"""A setting of a scenario in the words of another router.

    cb_failure_threshold = "--cb-failure-threshold {value}"                    # as it is
    cb_timeout_duration_secs = { text = "--cb-timeout {value}", step = 1 }     # seconds, scaled
    policy = { words = { sticky = "--policy manual", round_robin = "" } }      # a choice
    prefill = { text = "--prefill {value}", each = true }                      # a list with commas

What comes out stands in the config where it says `{policy}`, and else at the command's end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from staticfire.errors import StaticFireError, WrongInput

__all__ = ["Flag", "Unsupported", "read_flag", "say"]


class Unsupported(StaticFireError):
    """A router has no such thing: the scenario is not for it."""


@dataclass(frozen=True, slots=True)
class Flag:
    """How a setting is said. With `step` its value is seconds, which are scaled to real ones."""

    text: str = ""
    words: Mapping[str, str] | None = None
    """What to say for each value, where the values differ."""
    step: float = 0.0
    """The least number of seconds that the router takes; others are rounded to multiples."""
    each: bool = False
    """Said once for each part of a list with commas."""


def read_flag(value: Any, where: str) -> Flag:
    """A flag from a text or a table; raises WrongInput."""
    if isinstance(value, str):
        return Flag(value)
    table = dict(value) if isinstance(value, Mapping) else {}
    text, words, step = table.pop("text", ""), table.pop("words", None), table.pop("step", 0.0)
    each = table.pop("each", False)
    right = isinstance(text, str) and isinstance(step, int | float) and not table
    right = right and isinstance(each, bool)
    if not right or (words is None) == (not text) or not isinstance(words, Mapping | None):
        raise WrongInput(
            where,
            expected='a text, { text = "…", step = 1 }, { text = "…", each = true } or { words = { … } }',
            found=repr(value),
        )
    chosen = None if words is None else MappingProxyType({k: str(v) for k, v in words.items()})
    return Flag(text, chosen, float(step), each)


def say(flag: Flag, name: str, value: str, router: str, scale: float) -> str:
    """The flag with its value; raises `Unsupported` for a choice that the router has not."""
    if flag.words is not None:
        if value not in flag.words:
            raise Unsupported(f"{router} has no {name} {value}")
        return flag.words[value]
    if flag.each:
        parts = filter(None, (part.strip() for part in value.split(",")))
        return " ".join(flag.text.replace("{value}", part) for part in parts)
    if not flag.step:
        return flag.text.replace("{value}", value)
    real = max(flag.step, round(float(value) / scale / flag.step) * flag.step)
    shown = str(int(real)) if math.isclose(real, round(real)) else f"{real:g}"
    return flag.text.replace("{value}", shown)
