"""What the tap does to one answer: how fast its bytes leave, where they stop."""

from __future__ import annotations

import asyncio

__all__ = ["HIGH_WATER", "Plan", "next_piece"]

HIGH_WATER = 64 * 1024
"""Bytes held back beyond which a writer waits."""


class Plan:
    """What the tap does to one answer."""

    __slots__ = (
        "cut_at", "cut_handle", "cut_reset", "every", "in_head", "pace", "part", "pump", "queue",
        "tail", "wire",
    )  # fmt: skip

    def __init__(self) -> None:
        self.queue = bytearray()
        self.pace = 0
        self.every = 0
        self.part = "both"
        self.in_head = True
        self.tail = b""
        self.wire = 0
        self.cut_at: int | None = None
        self.cut_reset = False
        self.pump: asyncio.TimerHandle | None = None
        self.cut_handle: asyncio.TimerHandle | None = None


def next_piece(plan: Plan) -> tuple[bytes, bool]:
    """The next bytes of a paced answer, and whether a pause follows them."""
    queue = plan.queue
    end = -1
    if plan.part == "both":
        paced, limit, plan.in_head = True, len(queue), False
    elif not plan.in_head:
        paced, limit = plan.part != "head", len(queue)
    else:
        paced = plan.part != "body"
        seen = plan.tail + queue
        end = seen.find(b"\r\n\r\n")
        limit = len(queue) if end < 0 else end + 4 - len(plan.tail)
    size = min(plan.pace, limit) if paced else limit
    piece = bytes(queue[:size])
    del queue[:size]
    if plan.in_head:
        plan.tail = (plan.tail + piece)[-3:]
        plan.in_head = not (end >= 0 and size == limit)
    return piece, paced
