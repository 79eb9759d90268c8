"""How an exchange over the wire can fail."""

from __future__ import annotations

from staticfire.errors import StaticFireError

__all__ = ["Cut", "Late", "Malformed", "TooLarge", "Unreachable", "WireError"]


class WireError(StaticFireError):
    """The root of what goes wrong between two sockets. `reason` never holds a URL."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class Malformed(WireError):
    """The peer sent what is not HTTP/1.1."""


class Cut(WireError):
    """The message ended before its own framing said so.

    `reset` tells an abort (RST) from an orderly close (FIN); `began` is true once a byte of the
    answer had arrived; `taken` is false where no byte of the request reached the peer's machine, so
    that nobody can have begun it.
    """

    def __init__(
        self, reason: str, *, reset: bool = False, began: bool = False, taken: bool = True
    ) -> None:
        super().__init__(reason)
        self.reset = reset
        self.began = began
        self.taken = taken


class Late(WireError):
    """It did not come in its time."""


class TooLarge(WireError):
    """A head or a body went over its limit."""


class Unreachable(WireError):
    """No connection could be made: no route, a name that does not resolve; or `refused`.

    `refused` is true where every address of the host refused: nobody listens.
    """

    def __init__(self, reason: str, *, refused: bool = False) -> None:
        super().__init__(reason)
        self.refused = refused
