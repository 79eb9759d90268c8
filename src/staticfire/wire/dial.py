"""A fresh connection to an address."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable
from typing import Any, cast

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
    connection = Connection(address, on_lost)
    try:
        await loop.create_connection(
            lambda: cast("asyncio.Protocol", connection), address.host, address.port,
            ssl=address.tls or None, **more)  # fmt: skip
    except (OSError, UnicodeError) as error:
        refused = _is_refused(error)
        reason = "connection refused" if refused else _reason(error)
        raise Unreachable(reason, refused=refused) from error
    return connection


def _is_refused(error: Exception) -> bool:
    """True when every address of the host refused; asyncio tells several of them in one text."""
    if isinstance(error, ConnectionRefusedError):
        return True
    text = str(error)
    mark = f"[Errno {errno.ECONNREFUSED}]"
    return text.startswith("Multiple exceptions") and text.count("[Errno ") == text.count(mark)


def _reason(error: Exception) -> str:
    """What stopped a connect, in words without an address."""
    if isinstance(error, OSError) and error.errno is not None and error.strerror:
        text = error.strerror.lower()
        return "could not connect" if "connect call failed" in text else text
    return "could not connect"
