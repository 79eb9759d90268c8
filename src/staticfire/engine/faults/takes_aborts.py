"""`takes aborts`: a path on which a request can be ended by its id."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.engine.actions import Abort, Action, Finish, Head
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault

__all__ = ["TakesAborts"]


@fault("takes aborts")
@dataclass(frozen=True, slots=True)
class TakesAborts:
    """Ends the answers that `{"rid": ID}` or `{"abort_all": true}` name, and answers 200, empty.

    The id is a request's `X-Request-Id`, or the `rid` or `request_id` in its body. SGLang has that on
    `POST /abort_request`; a rule on any path gives it to any engine. Generation stops and a client
    that is still there sees a cut.
    """

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {"takes aborts on {what}": {}}

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        del honest
        try:
            asked = json.loads(ask.body)
        except ValueError:
            asked = None
        if isinstance(asked, dict):
            wanted = asked.get("rid")
            if asked.get("abort_all") is True:
                yield Abort()
            elif isinstance(wanted, str):
                yield Abort(wanted)
        yield Head(200, ((b"content-length", b"0"),))
        yield Finish()
