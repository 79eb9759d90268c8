"""`speaks another protocol`: the first words of a server that is no HTTP server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.engine.actions import Action, Close, Raw
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault, one_of

__all__ = ["SpeaksAnotherProtocol"]

PROTOCOLS = {
    "SSH": b"SSH-2.0-OpenSSH_9.2p1\r\n",
    "SMTP": b"220 mail.test ESMTP\r\n500 5.5.2 Error: bad syntax\r\n",
    "Redis": b"-ERR wrong number of arguments for 'post' command\r\n",
    "TLS": b"\x15\x03\x01\x00\x02\x02\x46",
    "HTTP/2": b"\x00\x00\x00\x04\x00\x00\x00\x00\x00",
}
"""What such a server says to a client that speaks HTTP/1.1 to it."""


@fault("speaks another protocol")
@dataclass(frozen=True, slots=True)
class SpeaksAnotherProtocol:
    """Says what a server of `protocol` says to an HTTP request, and ends the connection.

    A wrong port, or another process on a port that an engine had (public case B077).
    """

    protocol: str = "SSH"

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        f"answers {{what}} in {protocol}": {"protocol": protocol} for protocol in PROTOCOLS
    }

    def __post_init__(self) -> None:
        one_of("speaks another protocol", "protocol", self.protocol, PROTOCOLS)

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        del honest, ask
        yield Raw(PROTOCOLS[self.protocol])
        yield Close()
