"""`answers twice`: a second answer behind the first, which nobody asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.engine.actions import Action, Finish, Raw
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault

__all__ = ["AnswersTwice"]

STALE = b"an answer that nobody asked for"
BODY = (
    b'{"id":"chatcmpl-stale","object":"chat.completion","created":0,"model":"stale","choices":[{'
    b'"index":0,"message":{"role":"assistant","content":"%b"},"finish_reason":"stop"}]}' % STALE
)


@fault("answers twice")
@dataclass(frozen=True, slots=True)
class AnswersTwice:
    """Sends the honest answer and, in the same breath, a whole second one on the connection.

    Whoever keeps the connection and reads the next answer from it without asking whether bytes are
    left gets "an answer that nobody asked for", or gives it to another client.
    """

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {"answers {what} twice": {}}

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        del ask
        for action in honest:
            yield action
            if isinstance(action, Finish):
                head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
                yield Raw(head + b"content-length: %d\r\n\r\n%b" % (len(BODY), BODY))
