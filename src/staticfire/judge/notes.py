"""What an answer does against the rules of HTTP although h11 reads it."""

from __future__ import annotations

import re

__all__ = ["body_notes", "framing_notes", "rest_note"]


def framing_notes(head: bytes) -> tuple[str, ...]:
    """Notes on a raw head, status line and fields with their line ends.

    Each names the rule of RFC 9112 that it is against; an honest head has none.
    """
    lines = head.split(b"\n")
    fields = [line.partition(b":")[::2] for line in lines[1:] if b":" in line]
    values: dict[bytes, list[bytes]] = {}
    for name, value in fields:
        values.setdefault(name.strip().lower(), []).append(value.strip())
    lengths = values.get(b"content-length", [])
    checks = {
        "Content-Length beside Transfer-Encoding (RFC 9112, 6.2)": lengths
        and b"transfer-encoding" in values,
        "Content-Length more than once (RFC 9112, 6.3)": len(lengths) > 1
        or any(b"," in value for value in lengths),
        "a folded field line (RFC 9112, 5.2)": any(re.match(rb"[ \t]", line) for line in lines[1:]),
        "a bare LF as line end (RFC 9112, 2.2)": any(
            not line.endswith(b"\r") for line in lines[:-1]
        ),
        "a version other than HTTP/1.0 or HTTP/1.1 (RFC 9112, 2.3)": not re.match(
            rb"HTTP/1\.[01] ", head
        ),
        "white space before a colon (RFC 9112, 5.1)": any(
            name != name.rstrip() for name, _ in fields
        ),
        "bytes beyond ASCII in a field (RFC 9110, 5.5)": not head.isascii(),
    }
    return tuple(note for note, against in checks.items() if against)


def body_notes(encoding: str | None, body: bytes) -> tuple[str, ...]:
    """Notes on a body whose head says this Content-Encoding.

    Compressed bytes are never all ASCII, and gzip begins with two bytes of its own.
    """
    coded = (encoding or "identity").strip().lower()
    if coded == "identity" or not body:
        return ()
    if body.isascii() or (coded == "gzip" and not body.startswith(b"\x1f\x8b")):
        return (f"Content-Encoding {coded} on a plain body (RFC 9110, 8.4)",)
    return ()


def rest_note(rest: bytes) -> str:
    """A note on what came behind an answer's end."""
    what = ", another answer" if rest.startswith(b"HTTP/") else ""
    return f"{len(rest)} bytes after the answer's end{what}"
