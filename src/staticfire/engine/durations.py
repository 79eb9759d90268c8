"""Durations as people write them: `12s`, `1.5 seconds`, `2 min 52 s`, or a number of seconds."""

from __future__ import annotations

import re

from staticfire.errors import WrongInput

__all__ = ["PATTERN", "duration"]

UNITS = {
    "ms": 0.001, "millisecond": 0.001, "milliseconds": 0.001,
    "s": 1, "sec": 1, "second": 1, "seconds": 1,
    "m": 60, "min": 60, "minute": 60, "minutes": 60,
    "h": 3600, "hour": 3600, "hours": 3600,
}  # fmt: skip
_ONE = r"\d+(?:\.\d+)? ?(?:ms|milliseconds?|seconds?|sec|minutes?|min|hours?|s|m|h)(?![a-z])"
PATTERN = rf"{_ONE}(?: ?(?:and )?{_ONE})*"
"""A regular expression for one duration, without groups."""
_PART = re.compile(r"(\d+(?:\.\d+)?) ?([a-z]+)")


def duration(value: object, where: str = "duration") -> float:
    """Seconds from text or a number; raises `WrongInput`."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        text = value.strip()
        if re.fullmatch(PATTERN, text):
            total = sum(float(number) * UNITS[unit] for number, unit in _PART.findall(text))
            return round(total, 9)
        if re.fullmatch(r"\d+(?:\.\d+)?", text):
            return float(text)
    raise WrongInput(where, expected='a duration such as "12s" or "2min 52s"', found=repr(value))
