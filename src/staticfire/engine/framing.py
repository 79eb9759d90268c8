"""The head of an answer as bytes."""

from __future__ import annotations

from http import HTTPStatus

from staticfire.engine.actions import CHUNKED, CLOSE, UNFRAMED, Head

__all__ = ["REASONS", "head_bytes"]

REASONS = {status.value: status.phrase.encode() for status in HTTPStatus}


def head_bytes(head: Head, *, closing: bool, http10: bool) -> bytes:
    """The head as vLLM's server writes it: personality's headers, `connection`, then chunking.

    An HTTP/1.0 client gets no chunks: its body ends with the connection.
    """
    reason = REASONS.get(head.status, b"") if head.reason is None else head.reason
    lines = [b"HTTP/1.1 %d %s" % (head.status, reason)]
    lines += [b"%s: %s" % pair for pair in head.headers]
    if head.framing != UNFRAMED and (closing or head.framing == CLOSE):
        lines.append(b"connection: close")
    if head.framing == CHUNKED and not http10:
        lines.append(b"transfer-encoding: chunked")
    lines.append(b"\r\n")
    return b"\r\n".join(lines)
