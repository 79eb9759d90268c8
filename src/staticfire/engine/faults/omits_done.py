"""`omits [DONE]`: a stream that is whole by its framing and lacks its last event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.engine.actions import Action, Send
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault

__all__ = ["OmitsDone"]


@fault("omits [DONE]")
@dataclass(frozen=True, slots=True)
class OmitsDone:
    """The honest stream without its `data: [DONE]`."""

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {"ends {what} without [DONE]": {}}

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        del ask
        for action in honest:
            if not (isinstance(action, Send) and action.event and b"[DONE]" in action.data):
                yield action
