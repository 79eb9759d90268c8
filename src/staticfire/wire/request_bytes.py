"""One whole request as the bytes that go out."""

from __future__ import annotations

from collections.abc import Iterable

from staticfire.wire.head import Header

__all__ = ["request_bytes"]


def request_bytes(
    method: bytes, target: bytes, host: bytes, headers: Iterable[Header], body: bytes
) -> bytes:
    """A whole request; Host and Content-Length are made here."""
    parts = [b"%b %b HTTP/1.1\r\nhost: %b\r\n" % (method, target, host)]
    for key, value in headers:
        parts += (key, b": ", value, b"\r\n")
    if body or method not in (b"GET", b"HEAD", b"DELETE", b"OPTIONS"):
        parts.append(b"content-length: %d\r\n" % len(body))
    parts += (b"\r\n", body)
    return b"".join(parts)
