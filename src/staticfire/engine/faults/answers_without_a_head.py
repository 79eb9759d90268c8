"""`answers without a head`: a bare body, as HTTP/0.9 had it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.engine.actions import Action, Close, Finish, Head
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault

__all__ = ["AnswersWithoutAHead"]


@fault("answers without a head")
@dataclass(frozen=True, slots=True)
class AnswersWithoutAHead:
    """Sends the honest body alone and ends the connection: HTTP/0.9, which nobody asked for."""

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {"answers {what} without a head": {}}

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        del ask
        for action in honest:
            if isinstance(action, Finish):
                yield Close()
            elif not isinstance(action, Head):
                yield action
