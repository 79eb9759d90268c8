"""One request, under one deadline over resolve, connect, write and read."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from staticfire import wire
from staticfire.clock import NS, current
from staticfire.readiness.accept import Failure

__all__ = ["Deadline", "Line", "ask", "path_of"]


STAGGER = 0.25
"""Seconds after which the next address of a name is tried too: ::1 may swallow connects."""


def path_of(address: wire.Address, path: str) -> str:
    """`path` as a target of `address`; a base URL that ends in /v1, as clients have it, will do."""
    if path.startswith("/v1/") and address.base.endswith("/v1"):
        return path.removeprefix("/v1")
    return path


class Deadline:
    """An instant, in nanoseconds, that its owner may move while a request is under way.

    Nothing that the engine sends moves it.
    """

    __slots__ = ("_timeout", "at")

    def __init__(self, at: int) -> None:
        self.at = at
        self._timeout: asyncio.Timeout | None = None

    def move(self, at: int) -> None:
        """Move it; to now or before ends the request."""
        self.at = at
        if self._timeout is not None:
            self._timeout.reschedule(_loop_time(at))

    def held(self) -> asyncio.Timeout:
        """A timeout that follows."""
        self._timeout = asyncio.timeout_at(_loop_time(self.at))
        return self._timeout

    def let_go(self) -> None:
        """The request is over."""
        self._timeout = None


def _loop_time(at: int) -> float:
    span = max(0, at - current().now())
    return asyncio.get_running_loop().time() + span / NS


class Line:
    """The connection of one check: its probe goes where its listing went.

    A check begins with a fresh connection, as a user's request does, and closes it at its end.
    """

    __slots__ = ("_connection", "keeps")

    def __init__(self, *, keeps: bool = True) -> None:
        self.keeps = keeps
        """False from the first time that the engine closed one without a word of it."""
        self._connection: wire.Connection | None = None

    def take(self) -> wire.Connection | None:
        """The connection, where another request may go on it."""
        connection, self._connection = self._connection, None
        if connection is None or connection.reusable:
            return connection
        connection.close()
        return None

    def keep(self, connection: wire.Connection) -> None:
        """The reply is whole: the connection is there for the next request."""
        if self.keeps and connection.free:
            self._connection = connection
        else:
            connection.close()

    def close(self) -> None:
        """The check is over."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


async def ask(
    address: wire.Address,
    method: str,
    path: str,
    *,
    deadline: int | Deadline,
    headers: Iterable[wire.Header] = (),
    body: bytes = b"",
    limit: int = 1 << 20,
    line: Line | None = None,
) -> wire.Reply | Failure:
    """A whole reply, or why there is none. Never raises for what the engine does.

    `deadline` is an instant in nanoseconds; nothing that the engine sends moves it. The connection
    is closed when this returns, or kept by its `line`: a held-open socket is not waited for.
    """
    connection: wire.Connection | None = None
    now = current().now()
    limited = deadline if isinstance(deadline, Deadline) else Deadline(deadline)
    try:
        async with limited.held():
            request = method, path_of(address, path), tuple(headers), body, limit
            connection = None if line is None else line.take()
            if connection is not None and line is not None:
                try:
                    return await connection.fetch(*request)
                except wire.Cut as cut:
                    if cut.began:
                        raise
                    # It may have been closed before the request came: a fresh one will tell.
                    line.keeps, connection = False, None
            connection = await wire.connect(address, stagger=STAGGER)
            return await connection.fetch(*request)
    except TimeoutError:
        within = f"within {max(0, limited.at - now) / NS:.3g} s"
        if connection is None:
            return Failure(f"no connection {within}", connected=False, hung=True)
        return Failure(f"no whole answer {within}", connected=True, hung=True)
    except wire.Unreachable as error:
        return Failure(error.reason, connected=False, refused=error.refused)
    except wire.Cut as error:
        return Failure(f"connection lost: {error.reason}", connected=True)
    except wire.WireError as error:
        return Failure(f"no HTTP answer: {error.reason}", connected=True)
    finally:
        limited.let_go()
        if connection is not None:
            if line is not None:
                line.keep(connection)  # one that failed is not free, and closed
            else:
                connection.close()
