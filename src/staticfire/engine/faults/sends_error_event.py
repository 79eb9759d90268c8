"""`sends an error event`: a stream of status 200 that says inside that it failed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.engine.actions import CHUNKED, Action, Finish, Head, Send
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import error_object, fault, one_of

__all__ = ["SendsErrorEvent"]


@fault("sends an error event")
@dataclass(frozen=True, slots=True)
class SendsErrorEvent:
    """Sends an error object with `code` as an event after `after` events, then `[DONE]`.

    That is what vLLM does when its core dies in the middle of a stream: the status is 200, the
    stream ends cleanly, spaces follow the colons (capture `vllm-engine-killed`). `done=False` leaves
    the `[DONE]` out. An answer that is no stream gets the error as its status instead. `field` is
    the event's: older llama.cpp wrote `error: {...}` in place of `data: {...}` (public case B044).
    """

    code: int = 500
    after: int = 0
    done: bool = True
    field: str = "data"

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        f"sends an error {kind}{code} in {{what}}{after}{done}": {
            **({"field": "error"} if kind == "field" else {}),
            **({"done": False} if done else {}),
        }
        for kind in ("event", "field")
        for code in ("", " {code:d}")
        for after in ("", " after {after:d} event", " after {after:d} events")
        for done in ("", " without [DONE]")
    }

    def __post_init__(self) -> None:
        one_of("sends an error event", "field", self.field, ("data", "error"))

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        headers, body = ask.complain(self.code, None)
        left = self.after
        for action in honest:
            if isinstance(action, Head) and action.framing != CHUNKED:
                yield Head(self.code, headers)
                yield Send(body)
                yield Finish("error")
                return
            if isinstance(action, Finish):
                break
            if isinstance(action, Send) and action.event:
                if left == 0 or b"[DONE]" in action.data:
                    break
                left -= 1
            yield action
        spaced = json.dumps(json.loads(error_object(ask, self.code))).encode()
        yield Send(b"%s: %s\n\n" % (self.field.encode(), spaced), event=True)
        if self.done:
            yield Send(b"data: [DONE]\n\n", event=True)
        yield Finish("error")
