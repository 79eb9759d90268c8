"""Whether a peer's machine has taken what was sent to it.

A server that closes an idle connection may do so just as a request is on its way. Whether it can
have read that request is not a matter of guessing: bytes that were sent to a closed socket are never
acknowledged, and Linux counts the acknowledged ones (`tcp(7)`, TCP_INFO, since 4.1).
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct
import sys

__all__ = ["acknowledged"]

_AT = 120  # tcpi_bytes_acked in struct tcp_info
_SIZE = _AT + 8


def acknowledged(transport: asyncio.BaseTransport) -> int | None:
    """How many bytes the peer's kernel has taken since the connect; None where nobody tells."""
    if not sys.platform.startswith("linux") or transport.get_extra_info("sslcontext"):
        return None
    plain = transport.get_extra_info("socket")
    try:
        with socket.socket(fileno=os.dup(plain.fileno())) as twin:
            told = twin.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _SIZE)
    except (OSError, AttributeError):
        return None
    if len(told) < _SIZE:
        return None
    count: int = struct.unpack_from("=Q", told, _AT)[0]
    return max(0, count - 1)  # the connect itself counts as one
