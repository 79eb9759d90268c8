"""`sends a bad status line`: a first line that no client can read as one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.engine.actions import Action, Head
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault
from staticfire.errors import WrongInput

__all__ = ["SendsABadStatusLine"]


@fault("sends a bad status line")
@dataclass(frozen=True, slots=True)
class SendsABadStatusLine:
    """Sends `line` in place of the status line, and the honest answer after it.

    Any text of one line: no status (`HTTP/1.1 banana OK`), one that is none (`HTTP/1.1 099 Odd`), a
    version that this is not (`HTTP/2.0 200 OK`), or one without a reason (`HTTP/1.1 200`), which is
    allowed. A status of three digits from 100 on is what `answers` sends.
    """

    line: str = "HTTP/1.1 banana OK"

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        'begins {what} with the line "{line}"': {},
    }

    def __post_init__(self) -> None:
        if "\n" in self.line or "\r" in self.line:
            raise WrongInput(
                "sends a bad status line: line",
                expected="one line",
                found=repr(self.line),
                do="HTTP/1.1 banana OK, for example",
            )

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        del ask
        for action in honest:
            if isinstance(action, Head):
                yield action._replace(line=self.line.encode())
            else:
                yield action
