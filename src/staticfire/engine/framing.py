"""The head of an answer as bytes."""

from __future__ import annotations

from http import HTTPStatus
from typing import NamedTuple

from staticfire.engine.actions import CHUNKED, CLOSE, LENGTH, UNFRAMED, Head

__all__ = ["H11", "HTTPLIB", "REASONS", "UVICORN", "Manner", "head_bytes"]

REASONS = {status.value: status.phrase.encode() for status in HTTPStatus} | {
    413: b"Request Entity Too Large",
    414: b"Request-URI Too Long",
    416: b"Requested Range Not Satisfiable",
    422: b"Unprocessable Entity",
}
"""As the captures have them: Python 3.13 renamed the last four, and a mock speaks the same on each."""


class Manner(NamedTuple):
    """How a server writes the headers that its framing decides, after all others."""

    close: bytes = b"connection: close"
    chunked: bytes = b"transfer-encoding: chunked"
    keep: bytes = b""
    chunked_first: bool = False


UVICORN = Manner()
"""uvicorn on httptools, as vLLM runs it."""
H11 = Manner(b"Connection: close", b"Transfer-Encoding: chunked", b"", True)
"""uvicorn on h11, as transformers runs it."""
HTTPLIB = Manner(
    b"Connection: close", b"Transfer-Encoding: chunked", b"Keep-Alive: timeout=5, max=100", True
)
"""cpp-httplib, the server in llama.cpp."""


def head_bytes(head: Head, *, closing: bool, http10: bool, manner: Manner = UVICORN) -> bytes:
    """The head as a server writes it: the personality's headers, then those of the framing.

    An HTTP/1.0 client gets no chunks: its body ends with the connection.
    """
    if head.line is None:
        reason = REASONS.get(head.status, b"") if head.reason is None else head.reason
        lines = [b"HTTP/1.1 %d %s" % (head.status, reason)]
    else:
        lines = [head.line]
    lines += [b"%s: %s" % pair for pair in head.headers]
    if head.framing == LENGTH and not closing and not manner.keep:  # hot
        lines.append(b"\r\n")
        return b"\r\n".join(lines)
    chunked = head.framing == CHUNKED and not http10
    if chunked and manner.chunked_first:
        lines.append(manner.chunked)
    if head.framing != UNFRAMED:
        if closing or head.framing == CLOSE:
            lines.append(manner.close)
        elif manner.keep:
            lines.append(manner.keep)
    if chunked and not manner.chunked_first:
        lines.append(manner.chunked)
    lines.append(b"\r\n")
    return b"\r\n".join(lines)
