"""How an answer's tokens come: when they are admitted, how they are paced, what they cost.

Every personality says its own words in its own framing; the time that they take and the blocks
that they fill are the same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from json.encoder import encode_basestring
from typing import Any, NamedTuple

from staticfire.clock import ns
from staticfire.engine.actions import (
    Action,
    Admit,
    Asleep,
    Finish,
    Grow,
    Head,
    Send,
    Terminated,
    Wait,
)
from staticfire.engine.ask import Ask
from staticfire.engine.capacity import Full
from staticfire.engine.identity import mix
from staticfire.engine.personalities.base import Desk
from staticfire.engine.personalities.prompts import letters, text_of

__all__ = [
    "DONE",
    "Answer",
    "Lines",
    "Speech",
    "embedded",
    "quote",
    "refused",
    "speech",
    "streamed",
    "vectors",
    "whole",
]

quote: Callable[[str], str] = encode_basestring
"""A JSON string, letters beyond ASCII as they are (hot: `json.dumps` costs ten times this)."""

Answer = Generator[Action, None, None]

ASLEEP, ONE = Asleep(), Grow(1)
DONE = Send(b"data: [DONE]\n\n", event=True)
ABORT = "abort"
ENDS = {reason: Finish(reason) for reason in ("stop", "length", ABORT)}


class Speech(NamedTuple):
    """What an engine says to one request: its tokens, why they end, the prompt they answer."""

    tokens: list[str]
    reason: str
    prompt: int
    text: str = ""


def speech(ask: Ask, desk: Desk, limit: int | None, prompt: int, asked: Any) -> Speech:
    """What to say: as much as the script says, at most `limit` tokens; `asked` is the prompt."""
    length = desk.script.tokens
    said = length if limit is None else min(length, int(limit))
    reason = "stop" if limit is None or limit > length else "length"
    text = text_of(asked) if desk.script.capacity.blocks is not None else ""
    return Speech(desk.identity.tokens(ask.number, said), reason, prompt, text)


def refused(desk: Desk, prompt: int) -> Full | None:
    """Which limit a request of so many prompt tokens meets; it is counted as shed."""
    if not desk.slots.bounded:
        return None
    full = desk.slots.schedule.refuses(desk.slots.work(prompt))
    if full is not None:
        desk.stats.refuse(full)
    return full


class Lines(NamedTuple):
    """The events of a stream around its tokens.

    `opening` comes before the first token; each token stands between `before` and `after`, the
    last one between `before` and `last`, where that is another; then `closing`. `cut` are the last
    words of a stream that ends before its time; without them it is cut.
    """

    opening: tuple[Send, ...]
    before: bytes
    after: bytes
    closing: tuple[Send, ...]
    last: bytes | None = None
    cut: tuple[Send, ...] = ()


def whole(desk: Desk, said: Speech, make: Callable[[str, int, str], tuple[Head, bytes]]) -> Answer:
    """A JSON answer; `make` gets the text, its number of tokens and the finish reason."""
    tokens, reason, prompt, text = said
    capacity = desk.script.capacity
    try:
        yield ASLEEP
        yield Admit(prompt, text)
        if capacity.blocks is not None:
            yield from _grow(len(tokens), ns(capacity.per_token), capacity.block_size)
        elif capacity.per_token and len(tokens) > 1:
            yield Wait(ns(capacity.per_token) * (len(tokens) - 1))
    except Terminated as told:
        gap = ns(capacity.per_token)
        made = 0 if told.after < 0 else 1 + told.after // gap if gap else len(tokens)
        tokens, reason = tokens[:made], ABORT
    count = len(tokens)
    head, body = make("".join(tokens), count, reason)
    yield head
    yield Send(body, False, count)
    yield ENDS[reason]


def _grow(count: int, gap: int, size: int) -> Answer:
    """The time and the blocks of a JSON answer's tokens, a block at a time."""
    for done in range(0, count, size):
        step = min(size, count - done)
        yield Grow(step)
        if gap:
            yield Wait(gap * (step if done + step < count else step - 1))


def streamed(
    desk: Desk, head: Head, said: Speech, lines: Lines, *, head_first: bool = True
) -> Answer:
    """A stream, its head at once or (llama.cpp) with the first token."""
    opened = False
    if head_first:
        yield head
    try:
        yield ASLEEP
        yield Admit(said.prompt, said.text)
        if not head_first:
            yield head
        opened = True
        yield from lines.opening
        capacity = desk.script.capacity
        gap, grows = ns(capacity.per_token), capacity.blocks is not None
        before, after, last = lines.before, lines.after, lines.last
        final = len(said.tokens) - 1 if last is not None else -1
        for index, token in enumerate(said.tokens):
            if gap and index:
                yield Wait(gap)
            if grows:
                yield ONE
            end = after if index != final or last is None else last
            yield Send(before + quote(token).encode() + end, True, 1)
    except Terminated:
        if not lines.cut:
            raise
        if not opened:
            yield from lines.opening
        yield from lines.cut
        yield Finish(ABORT)
        return
    yield from lines.closing
    yield Finish(said.reason)


def vectors(desk: Desk, given: Any) -> list[list[float]]:
    """An embedding of eight numbers for each text; equal texts get equal ones."""
    texts = given if isinstance(given, list) and given else [given]
    return [
        [
            (mix(desk.identity.bits ^ (sum(str(text).encode()) << 16) ^ i) % 2001 - 1000) / 1000
            for i in range(8)
        ]
        for text in texts
    ]


def embedded(desk: Desk, given: Any, answer: Answer) -> Answer:
    """An embeddings answer at its time."""
    yield ASLEEP
    yield Admit(letters(given), text_of(given) if desk.script.capacity.blocks is not None else "")
    yield from answer
