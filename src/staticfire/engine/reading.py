"""Reading a request slowly, so that its client feels it."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from aiohttp import StreamReader

__all__ = ["Reading", "read_slowly", "reading"]


class Reading(NamedTuple):
    """So many bytes of a request's body are read each `every` seconds."""

    bytes: int
    every: float


def reading(fault: object) -> Reading | None:
    """How a fault reads the request that it plays on; None for as it comes."""
    found: Reading | None = getattr(fault, "reading", None)
    return found


async def read_slowly(content: StreamReader, pace: Reading) -> bytes:
    """The body; what is not read yet stays with the kernel, and then with the client."""
    body = b""
    while True:
        try:
            piece = await content.readexactly(pace.bytes)
        except asyncio.IncompleteReadError as last:
            return body + last.partial
        body += piece
        await asyncio.sleep(pace.every)
