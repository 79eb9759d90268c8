"""`frames events oddly`: server-sent events in a form that a careless parser does not know."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.engine.actions import Action, Send
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault, one_of

__all__ = ["FramesEventsOddly"]

FORMS = ("CR", "CRLF", "mixed", "no space", "two lines", "named", "BOM", "no blank line")


@fault("frames events oddly")
@dataclass(frozen=True, slots=True)
class FramesEventsOddly:
    """Sends the honest events of a stream in another `form`.

    `CR`, `CRLF` or `mixed` line ends, `no space` after the colon (public case B116), each event's
    data over `two lines` (B118), `named` (with `event` and `id` fields), with a `BOM` at the start:
    all of these WHATWG HTML 9.2 allows. `no blank line` after [DONE] is against it (B119).
    An answer that is no stream is honest.
    """

    form: str = "CRLF"

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "ends the lines of {what} with CR": {"form": "CR"},
        "ends the lines of {what} with CRLF": {"form": "CRLF"},
        "ends the lines of {what} with CR, LF, CRLF in turn": {"form": "mixed"},
        "sends {what} without a space after the colon": {"form": "no space"},
        "sends the data of {what} on two lines": {"form": "two lines"},
        "names the events of {what}": {"form": "named"},
        "begins the stream of {what} with a BOM": {"form": "BOM"},
        "ends {what} without a blank line": {"form": "no blank line"},
    }

    def __post_init__(self) -> None:
        one_of("frames events oddly", "form", self.form, FORMS)

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        del ask
        number = itertools.count(1)
        for action in honest:
            if isinstance(action, Send) and action.event:
                yield action._replace(data=self._framed(action.data, next(number)))
            else:
                yield action

    def _framed(self, data: bytes, number: int) -> bytes:
        """One event, which came as `data: ...` and a blank line."""
        done = b"[DONE]" in data
        match self.form:
            case "CR" | "CRLF" | "mixed":
                ends = {"CR": [b"\r"], "CRLF": [b"\r\n"], "mixed": [b"\r", b"\n", b"\r\n"]}[
                    self.form
                ]
                return data.replace(b"\n", ends[number % len(ends)])
            case "no space":
                return re.sub(rb"(?m)^data: ", b"data:", data)
            case "two lines":
                return re.sub(rb"(?m)^(data: [^,\n]*,)", rb"\1\ndata: ", data)
            case "named":
                return b"event: message\nid: %d\n%b" % (number, data)
            case "BOM":
                return b"\xef\xbb\xbf" + data if number == 1 else data
            case _:
                return data[:-1] if done else data
