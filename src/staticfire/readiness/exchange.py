"""One request, under one deadline over resolve, connect, write and read."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Iterable

from staticfire import wire
from staticfire.clock import NS, current
from staticfire.readiness.accept import Failure

__all__ = ["ask", "path_of"]


def path_of(address: wire.Address, path: str) -> str:
    """`path` as a target of `address`; a base URL that ends in /v1, as clients have it, will do."""
    if path.startswith("/v1/") and address.base.endswith("/v1"):
        return path.removeprefix("/v1")
    return path


async def ask(
    address: wire.Address,
    method: str,
    path: str,
    *,
    deadline: int,
    headers: Iterable[wire.Header] = (),
    body: bytes = b"",
    limit: int = 1 << 20,
) -> wire.Reply | Failure:
    """A whole reply, or why there is none. Never raises for what the engine does.

    `deadline` is an instant in nanoseconds; nothing that the engine sends moves it. The connection
    is closed when this returns: a held-open socket is not waited for.
    """
    connection: wire.Connection | None = None
    now = current().now()
    span = max(0, deadline - now)
    try:
        async with asyncio.timeout(span / NS):
            connection = await wire.connect(address)
            return await connection.fetch(method, path_of(address, path), headers, body, limit)
    except TimeoutError:
        within = f"within {span / NS:.3g} s"
        if connection is None:
            return Failure(f"no connection {within}", connected=False, hung=True)
        return Failure(f"no whole answer {within}", connected=True, hung=True)
    except wire.Unreachable as error:
        refused = _is_refused(error.__cause__)
        reason = "connection refused" if refused else error.reason
        return Failure(reason, connected=False, refused=refused)
    except wire.Cut as error:
        return Failure(error.reason, connected=True)
    except wire.WireError as error:
        return Failure(f"no HTTP answer: {error.reason}", connected=True)
    finally:
        if connection is not None:
            connection.close()


def _is_refused(cause: BaseException | None) -> bool:
    """True when every address of the host refused; asyncio tells several of them in one text."""
    if isinstance(cause, ConnectionRefusedError):
        return True
    text = str(cause)
    mark = f"[Errno {errno.ECONNREFUSED}]"
    return text.startswith("Multiple exceptions") and text.count("[Errno ") == text.count(mark)
