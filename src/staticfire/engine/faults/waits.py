"""`waits`: the honest answer, later."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.clock import ns
from staticfire.engine.actions import Action, Head, Send, Wait
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault

__all__ = ["Waits"]


@fault("waits")
@dataclass(frozen=True, slots=True)
class Waits:
    """Waits before the head, before the first token, between tokens; all in seconds.

    In a JSON answer the first token is the body: its head is on the wire while the body waits.
    """

    before_head: float = 0.0
    before_first_token: float = 0.0
    between_tokens: float = 0.0

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "waits {before_head:duration} before answering {what}": {},
        "waits {before_first_token:duration} before the first token of {what}": {},
        "waits {between_tokens:duration} between the tokens of {what}": {},
    }

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        del ask
        begun = said = False
        for action in honest:
            if isinstance(action, Head) and self.before_head:
                yield Wait(ns(self.before_head))
            elif isinstance(action, Send):
                if not begun and self.before_first_token:
                    yield Wait(ns(self.before_first_token))
                elif said and action.tokens and self.between_tokens:
                    yield Wait(ns(self.between_tokens))
                begun = True
                said = said or action.tokens > 0
            yield action
