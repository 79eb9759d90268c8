"""`answers with a wrong body`: a whole 200 whose body is of no use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.engine.actions import Action, Finish, Head, Send, header, streams, without
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import error_object, fault, one_of

__all__ = ["AnswersWithAWrongBody"]

BODIES = ("HTML", "nothing", "half its JSON", "bad UTF-8", "an error object", "another model")
PAGE = b"<!doctype html><html><head><title>It works!</title></head><body>It works!</body></html>\n"
MODEL = re.compile(rb'("model": ?)"[^"]*"')
TEXT = re.compile(rb'("(?:content|text)": ?")')


@fault("answers with a wrong body")
@dataclass(frozen=True, slots=True)
class AnswersWithAWrongBody:
    """Answers 200, whole by its framing, with a body that is of no use.

    `body` is `HTML` (a page of another server), `nothing` (a stream without an event, public case
    B052), `half its JSON` (in a stream the second event's, B032), `bad UTF-8` (a byte that is none
    in the text), `an error object` (the engine's own, as JSON also where a stream was asked for) or
    `another model` (the honest answer under another model's name).
    """

    body: str = "HTML"

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        f"answers {{what}} with {body}": {"body": body} for body in BODIES
    }

    def __post_init__(self) -> None:
        one_of("answers with a wrong body", "body", self.body, BODIES)

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        if self.body == "HTML":
            yield from _whole(b"text/html; charset=utf-8", PAGE)
        elif self.body == "an error object":
            yield from _whole(b"application/json", error_object(ask, 500))
        elif self.body == "nothing":
            yield from _without_body(honest)
        else:
            yield from self._altered(honest)

    def _altered(self, honest: Iterator[Action]) -> Iterator[Action]:
        """The honest answer with another text in it; its length is stated anew."""
        head: Head | None = None
        events = 0
        for action in honest:
            if isinstance(action, Head) and not streams(action):
                head = action  # it waits for the body's new length
            elif isinstance(action, Send):
                events += 1
                data = self._text(action.data, events if action.event else None)
                if head is not None:
                    kept = without(head.headers, b"content-length")
                    length = (b"content-length", b"%d" % len(data))
                    yield head._replace(headers=(*kept, length))
                    head = None
                yield action._replace(data=data)
            else:
                yield action

    def _text(self, data: bytes, event: int | None) -> bytes:
        """A JSON body, or one event of a stream, gone wrong."""
        if self.body == "another model":
            return MODEL.sub(rb'\1"another-model"', data)
        if self.body == "bad UTF-8":
            return TEXT.sub(b"\\1\xff", data)
        if event is None:
            return data[: len(data) // 2]
        return data[: len(data) // 2] + b"\n\n" if event == 2 else data


def _whole(kind: bytes, body: bytes) -> Iterator[Action]:
    yield Head(200, ((b"content-type", kind), (b"content-length", b"%d" % len(body))))
    yield Send(body)
    yield Finish()


def _without_body(honest: Iterator[Action]) -> Iterator[Action]:
    for action in honest:
        if isinstance(action, Head) and header(action.headers, b"content-length") is not None:
            kept = without(action.headers, b"content-length")
            yield action._replace(headers=(*kept, (b"content-length", b"0")))
        elif not isinstance(action, Send):
            yield action
