"""A TCP port that an engine owns through all its lives.

A guard socket is bound to it, so that connects are refused while nothing listens and nobody else
can take the port. On Linux a life's listener is that same socket: when it is shut down it stops to
listen and keeps its port, as it was bound to it by number. So 10,000 engines fit under a limit of
20,000 open files. Elsewhere a life's listener is a second socket on the same port.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import sys
from collections.abc import Callable, Coroutine
from typing import Any

from staticfire.errors import WrongInput

__all__ = ["BACKLOG", "Port"]

BACKLOG = 4096
"""A smaller accept queue drops connects under load, and they come back after a real second."""
ONE_SOCKET = sys.platform == "linux"


class Port:
    """A port on one host: owned from `own` to `release`, open between `listen` and `close`."""

    __slots__ = ("_guard", "_listener", "_server", "host", "number")

    def __init__(self, host: str, number: int) -> None:
        self.host, self.number = host, number
        self._guard: socket.socket | None = None
        self._listener: socket.socket | None = None
        self._server: asyncio.Server | None = None

    @property
    def open(self) -> bool:
        return self._server is not None

    def own(self) -> None:
        """Take the port, 0 for one of the kernel's choice; raises `WrongInput` if it is in use."""
        if ONE_SOCKET and self.number == 0:
            self.number, self._guard = _free(self.host)
        else:
            self._guard = _bound(self.host, self.number)
            self.number = self._guard.getsockname()[1]

    def listen(self, factory: Callable[[], asyncio.Protocol]) -> None:
        """Open the port at this very instant: the next connect succeeds."""
        loop = asyncio.get_running_loop()
        sock = self._guard if ONE_SOCKET else _bound(self.host, self.number)
        assert sock is not None
        sock.listen(BACKLOG)
        sock.setblocking(False)
        self._listener = sock
        self._server = _at_once(loop.create_server(factory, sock=sock, backlog=BACKLOG))

    def close(self) -> None:
        """Refuse connects from now on; the port stays ours.

        Its `Server` is not closed: that would drop a connection which was accepted in
        this very turn without closing it, and its client would wait for ever.
        """
        if self._listener is not None and self._server is not None:
            self._server.get_loop().remove_reader(self._listener)
            if self._listener is self._guard:
                self._listener.shutdown(socket.SHUT_RD)
            else:
                self._listener.close()
            self._listener = self._server = None

    def release(self) -> None:
        """Give the port back."""
        self.close()
        if self._guard is not None:
            self._guard.close()
            self._guard = None


def _free(host: str) -> tuple[int, socket.socket]:
    """A port of the kernel's choice, and a socket that is bound to it by number.

    The kernel chooses without SO_REUSEADDR: with it, it looks at half of the ports first, and takes
    milliseconds for each once that half is used up (10,000 engines: 4.4 s instead of 0.15 s).
    """
    chosen = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    with chosen:
        try:
            chosen.bind((host, 0))
        except OSError as exc:
            raise _in_use(host, 0, exc) from exc
        chosen.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        number = chosen.getsockname()[1]
        return number, _bound(host, number)


def _bound(host: str, port: int) -> socket.socket:
    sock = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
    except OSError as exc:
        sock.close()
        raise _in_use(host, port, exc) from exc
    return sock


def _in_use(host: str, port: int, exc: OSError) -> WrongInput:
    taken = exc.errno == errno.EADDRINUSE
    return WrongInput(
        f"{host}:{port}",
        expected="a free port" if taken else "an address of this machine",
        found="one that is in use" if taken else (exc.strerror or str(exc)),
        do="choose another, or 0 for one of the kernel's choice" if taken else "127.0.0.1, usually",
    )


def _at_once(coroutine: Coroutine[Any, Any, asyncio.Server]) -> asyncio.Server:
    """Run `create_server` without a turn of the loop.

    With a socket given it suspends at most once, in a courtesy `sleep(0)` after it has started to
    serve; the coroutine is resumed past it, which needs nobody's turn.
    """
    try:
        for _ in range(8):
            coroutine.send(None)
    except StopIteration as done:
        server: asyncio.Server = done.value
        return server
    raise AssertionError("create_server did not finish at once")
