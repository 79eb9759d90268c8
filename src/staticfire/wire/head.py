"""The rules on message heads that llhttp leaves to us.

llhttp refuses most smuggling by itself (length beside chunked, two lengths, bad chunk sizes,
control characters). It is lenient on what stands here: the status range, the version, the
transfer coding, the Host header. `tests/wire/test_rules.py` has the table of whose rule is whose.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from staticfire.wire.errors import Malformed

__all__ = [
    "RULED",
    "Framing",
    "Head",
    "Header",
    "Headers",
    "find",
    "hop_by_hop",
    "judge_reply_head",
    "judge_request_head",
]

Header = tuple[bytes, bytes]
Headers = Sequence[Header]
Framing = Literal["none", "length", "chunked", "eof"]


class _Ruled(dict[bytes, str]):
    """Names as they are spelled to the rule that is about them, empty for most.

    Learned once for each spelling. Peers could make up spellings without end, so it forgets.
    """

    def __missing__(self, name: bytes) -> str:
        lower = name.lower()
        rule = lower.decode("latin-1") if lower in _RULES else ""
        if len(self) >= _SPELLINGS:
            self.clear()
        self[name] = rule
        return rule


_RULES = frozenset((b"content-length", b"expect", b"host", b"transfer-encoding"))
_SPELLINGS = 4096

RULED = _Ruled()
"""By it a head is judged with one look at each name."""

# RFC 9110 7.6.1, RFC 9112 9.6: what belongs to one connection, never to the message.
_HOP = frozenset(
    (
        b"connection",
        b"keep-alive",
        b"proxy-connection",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    )
)


class Head(NamedTuple):
    """The head of a final reply; `length` is None unless its framing is a Content-Length."""

    status: int
    headers: tuple[Header, ...]
    framing: Framing
    length: int | None

    def header(self, name: bytes) -> bytes | None:
        """The first value under `name` (lower case), or None."""
        return find(self.headers, name)


def find(headers: Iterable[Header], name: bytes) -> bytes | None:
    """The first value under `name` (lower case), or None."""
    for key, value in headers:
        if len(key) == len(name) and key.lower() == name:
            return value
    return None


def hop_by_hop(headers: Headers) -> frozenset[bytes]:
    """The names (lower case) that must not pass a proxy, with those that Connection lists."""
    named: set[bytes] = set()
    for key, value in headers:
        if len(key) == 10 and key.lower() == b"connection":
            named.update(token.strip().lower() for token in value.split(b","))
    named -= {b"", b"close", b"keep-alive"}
    return _HOP | named if named else _HOP


def judge_reply_head(method: bytes, status: int, version: str, headers: tuple[Header, ...]) -> Head:
    """A final reply's head with the framing of its body (RFC 9112 6.3).

    Raises Malformed where no honest body end can be told: a status outside 100..599 (RFC 9110 15),
    a version other than 1.0 or 1.1, a transfer coding other than a sole `chunked`.
    """
    if not 100 <= status <= 599:
        raise Malformed(f"status {status} is outside 100 to 599")
    if version not in ("1.1", "1.0"):
        raise Malformed(f"HTTP version {version} is not 1.0 or 1.1")
    length: int | None = None
    chunked = False
    for name, value in headers:
        rule = RULED[name]
        if rule == "content-length":
            length = int(value)
        elif rule == "transfer-encoding":
            if chunked or value.strip().lower() != b"chunked" or version == "1.0":
                raise Malformed(f"transfer coding {value.decode('latin-1')!r} is not understood")
            chunked = True
    if method == b"HEAD" or status in (204, 304):
        return Head(status, headers, "none", length)
    if chunked:
        return Head(status, headers, "chunked", None)
    if length is not None:
        return Head(status, headers, "length", length)
    return Head(status, headers, "eof", None)


def judge_request_head(version: str, headers: Headers) -> tuple[int, str] | None:
    """What is wrong with a request's head, as status and words, or None.

    Exactly one Host on 1.1 and at most one on 1.0 (RFC 9112 3.2), a transfer coding that is a
    sole `chunked` on 1.1 (RFC 9112 6.1: others may smuggle), a version that we speak, an Expect
    that we can meet.
    """
    if version not in ("1.1", "1.0"):
        return 505, f"HTTP version {version} is not 1.0 or 1.1"
    hosts = 0
    codings = 0
    for name, value in headers:
        rule = RULED[name]
        if rule == "host":
            hosts += 1
        elif rule == "transfer-encoding":
            codings += 1
            if codings > 1 or version == "1.0":
                return 400, "one Transfer-Encoding, on HTTP/1.1, is understood"
            if value.strip().lower() != b"chunked":
                return 501, "the only transfer coding understood is chunked"
        elif rule == "expect" and value.strip().lower() != b"100-continue":
            return 417, "the only expectation that can be met is 100-continue"
    if hosts > 1 or (hosts == 0 and version == "1.1"):
        return 400, f"expected exactly one Host header, found {hosts}"
    return None
