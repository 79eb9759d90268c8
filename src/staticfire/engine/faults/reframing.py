"""Honest answers in another framing, for faults that need one."""

from __future__ import annotations

from collections.abc import Iterator

from staticfire.engine.actions import CHUNKED, Action, Head, Send, without

__all__ = ["chunked"]


def chunked(honest: Iterator[Action]) -> Iterator[Action]:
    """The answer in chunks, whatever its honest framing; a body in one piece becomes two."""
    whole = False
    for action in honest:
        if isinstance(action, Head):
            whole = action.framing != CHUNKED
            kept = without(action.headers, b"content-length")
            yield action._replace(headers=kept, framing=CHUNKED)
        elif isinstance(action, Send) and whole and len(action.data) > 1:
            half = len(action.data) // 2
            yield action._replace(data=action.data[:half])
            yield Send(action.data[half:])
        else:
            yield action
