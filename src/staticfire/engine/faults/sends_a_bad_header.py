"""`sends a bad header`: one line of the head against the rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.engine.actions import Action, Head
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault, one_of

__all__ = ["SendsABadHeader"]

HEADERS = {
    "without a colon": (b"x-odd", b"1\r\nthis line has none"),
    "without a name": (b"", b"1"),
    "folded": (b"x-odd", b"one\r\n two"),
    "with a NUL": (b"x-odd", b"a\0b"),
    "in Latin-1": (b"x-odd", "caf\u00e9".encode("latin-1")),
    "with a space before its colon": (b"x-odd ", b"1"),
    "with a bare CR": (b"x-odd", b"a\rb"),
    "with a bare LF": (b"x-odd", b"1\nx-odder: 2"),
}
"""The field that is added, as name and value between which the engine puts a colon."""


@fault("sends a bad header")
@dataclass(frozen=True, slots=True)
class SendsABadHeader:
    """Adds a header line that is against RFC 9112 to the honest head.

    `header` says how: `without a colon`, `without a name`, `folded` over two lines, `with a NUL`,
    `in Latin-1` (a byte beyond ASCII and no UTF-8), `with a space before its colon`, `with a bare
    CR` in its value, `with a bare LF` as its end.
    """

    header: str = "without a colon"

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        f"sends a header {header} in {{what}}": {"header": header} for header in HEADERS
    }

    def __post_init__(self) -> None:
        one_of("sends a bad header", "header", self.header, HEADERS)

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        del ask
        for action in honest:
            if isinstance(action, Head):
                yield action._replace(headers=(*action.headers, HEADERS[self.header]))
            else:
                yield action
