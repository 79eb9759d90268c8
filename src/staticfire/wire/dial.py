"""A fresh connection to an address."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from staticfire.wire.client import Connection
from staticfire.wire.errors import Unreachable
from staticfire.wire.url import Address

__all__ = ["connect"]


async def connect(
    address: Address, *, on_lost: Callable[[Connection], None] | None = None,
    stagger: float | None = None,
) -> Connection:  # fmt: skip
    """A fresh connection. Raises Unreachable; the deadline is the caller's.

    Every address of a name is tried, when the one before failed or `stagger` seconds after it.
    """
    loop = asyncio.get_running_loop()
    literal = ":" in address.host or address.host.replace(".", "").isdigit()
    # uvloop tries one address after the other, and knows no stagger.
    staggers = stagger is not None and not literal and isinstance(loop, asyncio.BaseEventLoop)
    more: dict[str, Any] = {"happy_eyeballs_delay": stagger} if staggers else {}
    try:
        _, connection = await loop.create_connection(
            lambda: Connection(address, on_lost), address.host, address.port,
            ssl=address.tls or None, **more)  # fmt: skip
    except (OSError, UnicodeError) as error:
        raise Unreachable(_reason(error)) from error
    return connection


def _reason(error: Exception) -> str:
    """What stopped a connect, in words without an address."""
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    if isinstance(error, OSError) and error.errno is not None and error.strerror:
        text = error.strerror.lower()
        return "could not connect" if "connect call failed" in text else text
    return "could not connect"
