"""`sends a bad chunk`: a chunk whose size is none, or is not kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.engine.actions import Action, Raw, Send
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault, one_of
from staticfire.engine.faults.reframing import chunked

__all__ = ["SendsABadChunk"]

SIZES = {"no number": b"zz", "negative": b"-5", "huge": b"f" * 17, "too big": b""}
"""What stands for a chunk's size; the one that is too big depends on the chunk."""


@fault("sends a bad chunk")
@dataclass(frozen=True, slots=True)
class SendsABadChunk:
    """Sends the answer in chunks, of which the one after `after` good ones states a bad size.

    `size` is `no number` (zz), `negative` (-5), `huge` (17 hexadecimal digits) or `too big` (ten
    more than the chunk has, so that it eats into the next one). The rest of the answer follows as
    if nothing were wrong. A JSON answer is sent in two chunks.
    """

    size: str = "no number"
    after: int = 1

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "sends a chunk size that is no number in {what}": {"size": "no number"},
        "sends a negative chunk size in {what}": {"size": "negative"},
        "sends a huge chunk size in {what}": {"size": "huge"},
        "sends a chunk smaller than its size in {what}": {"size": "too big"},
    }

    def __post_init__(self) -> None:
        one_of("sends a bad chunk", "size", self.size, SIZES)

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        del ask
        left = self.after
        for action in chunked(honest):
            if isinstance(action, Send):
                left -= 1
                if left == -1:
                    yield action._replace(data=b"")  # its tokens count, and the holds see them
                    size = SIZES[self.size] or b"%x" % (len(action.data) + 10)
                    yield Raw(b"%b\r\n%b\r\n" % (size, action.data))
                    continue
            yield action
