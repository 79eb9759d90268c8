"""What Static Fire raises: wrong input says where, what was expected, what came, what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = [
    "BrokenPromise",
    "StaticFireError",
    "WrongInput",
    "WrongStep",
    "did_you_mean",
    "nearest",
]


class StaticFireError(Exception):
    """The root of everything that Static Fire raises on purpose."""


class WrongInput(StaticFireError, ValueError):
    """A script, feature, row, flag or file that cannot be used.

    `where` is a file with its line and key, a flag, or the engine's name. The message is one line:
    `where: expected X, found Y; what to do`.
    """

    def __init__(self, where: str, *, expected: str, found: object, do: str = "") -> None:
        self.where, self.expected, self.found, self.do = where, expected, found, do
        tail = f"; {do}" if do else ""
        super().__init__(f"{where}: expected {expected}, found {found}{tail}")


class WrongStep(StaticFireError, ValueError):
    """A word in a step that cannot be used; the message says what can."""


class BrokenPromise(AssertionError):
    """A promise of a feature that was not kept; the only failure that a known bug may excuse."""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known name closest to `word`, or None when nothing is near."""
    return next(iter(difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)), None)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Advice for an unknown name: the nearest one, or the whole list where nothing is near."""
    names = list(known)
    near = nearest(word, names)
    return f'did you mean "{near}"?' if near else f"known: {', '.join(sorted(names))}"
