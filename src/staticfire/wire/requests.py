"""Requests read out of a client's bytes."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

import httptools

from staticfire.wire.head import RULED, Header, find, judge_request_head

__all__ = ["Limits", "Refusal", "Request", "RequestReader"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes in bytes, times in float seconds.

    `idle` closes a connection on which nothing moves outside an answer; `linger` is how long an
    early answer's connection is drained; `ahead` is how many pipelined requests may wait. From the
    first byte of a request its head has `head_time`, and its body `body_time` and a second more for
    each `body_rate` bytes of it that have come.
    """

    head: int = 64 << 10
    body: int = 512 << 20
    idle: float = 75.0
    linger: float = 2.0
    head_time: float = 20.0
    body_time: float = 60.0
    body_rate: float = 500.0
    ahead: int = 16


class Request(NamedTuple):
    """One whole request; `target` is in origin form, `keep` whether another may follow."""

    method: bytes
    target: bytes
    version: str
    headers: tuple[Header, ...]
    body: bytes
    keep: bool

    def header(self, name: bytes) -> bytes | None:
        """The first value under `name` (lower case), or None."""
        return find(self.headers, name)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that is refused before anybody looks at it; nothing after it is read."""

    status: int
    message: str
    method: bytes = b"GET"


class _Stop(Exception):
    pass


class RequestReader:
    """Feed it bytes; whole requests and at most one last refusal appear in `ready`, in order.

    Sans-I/O. `awaits_continue` is True while a client holds its body back for a 100.
    """

    def __init__(self, limits: Limits) -> None:
        self.ready: deque[Request | Refusal] = deque()
        self.awaits_continue = False
        self.complete = 0
        self.over = False  # nothing more is read: refused, or the client's last request
        self._limits = limits
        self._parser = httptools.HttpRequestParser(self)
        self._fed_in_head = 0
        self._counting = False
        self._reset()

    @property
    def between(self) -> bool:
        """True while no request has begun to arrive."""
        return self._fed_in_head == 0 and self._in_head

    @property
    def time(self) -> float:
        """Seconds that the request which has begun may have taken by now."""
        limits = self._limits
        return (
            limits.head_time if self._in_head else limits.body_time + self._size / limits.body_rate
        )

    def give_up(self) -> None:
        """The request which has begun takes too long."""
        part = "head" if self._in_head else "body"
        self._refuse(408, f"the {part} of the request did not come in its time")

    def feed(self, data: bytes) -> None:
        """Take bytes as they arrived, cut anywhere."""
        while data and not self.over:
            data = self._feed(data)

    def _feed(self, data: bytes) -> bytes:
        in_head, done = self._in_head, self.complete
        # What came is no longer than a head may be: then its fields need no counting.
        self._counting = self._fed_in_head + len(data) > self._limits.head
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as switch:
            # An Upgrade may be ignored (RFC 9110 7.8): go on in HTTP/1.1 with what follows.
            self._parser = httptools.HttpRequestParser(self)
            self._fed_in_head = 0
            return data[int(switch.args[0]) :]
        except httptools.HttpParserCallbackError as wrapped:
            if not isinstance(wrapped.__context__, _Stop):
                raise
        except httptools.HttpParserError as wrong:
            self._refuse(400, f"this is not HTTP/1.1: {str(wrong).lower()}")
        if self._in_head and not self.over:
            whole = in_head and done == self.complete
            self._fed_in_head = self._fed_in_head + len(data) if whole else int(self._begun)
            if self._fed_in_head > self._limits.head:
                self._refuse(431, f"the head is over {self._limits.head} bytes")
        return b""

    def _refuse(self, status: int, message: str) -> None:
        if not self.over:
            self.over = True
            self.ready.append(Refusal(status, message))

    def _stop(self, status: int, message: str) -> None:
        self._refuse(status, message)
        raise _Stop

    def _reset(self) -> None:
        self._url = b""
        self._headers: list[Header] = []
        self._body: list[bytes] = []
        self._size = 0
        self._fields = 0
        self._in_head = True
        self._begun = False

    # -- httptools callbacks

    def on_message_begin(self) -> None:
        self._begun = True

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._counting:
            self._fields += len(name) + len(value) + 4
            if self._fields > self._limits.head:
                self._stop(431, f"the head is over {self._limits.head} bytes")
        if self._in_head:  # trailers are read and dropped
            self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        self._in_head = False
        version = self._parser.get_http_version()
        ruled = [header for header in self._headers if RULED[header[0]]]
        wrong = judge_request_head(version, ruled)
        if wrong is not None:
            self._stop(*wrong)
        if len(self._url) > self._limits.head:
            self._stop(414, f"the target is over {self._limits.head} bytes")
        if self._parser.get_method() == b"CONNECT":
            self._stop(501, "CONNECT is not served here")
        for name, value in ruled:
            rule = RULED[name]
            if rule == "content-length" and int(value) > self._limits.body:
                self._stop(413, f"the body is over {self._limits.body} bytes")
            elif rule == "expect":
                self.awaits_continue = version == "1.1"

    def on_body(self, data: bytes) -> None:
        self.awaits_continue = False
        self._size += len(data)
        if self._size > self._limits.body:
            self._stop(413, f"the body is over {self._limits.body} bytes")
        self._body.append(data)

    def on_message_complete(self) -> None:
        parser = self._parser
        body = self._body
        keep = parser.should_keep_alive() or parser.should_upgrade()
        self.ready.append(
            Request(
                parser.get_method(),
                _origin_form(self._url),
                parser.get_http_version(),
                tuple(self._headers),
                body[0] if len(body) == 1 else b"".join(body),
                keep,
            )
        )
        self.complete += 1
        self.awaits_continue = False
        self._reset()
        if not keep:
            self.over = True


def _origin_form(target: bytes) -> bytes:
    """The path and query of a target in absolute form (RFC 9112 3.2.2), else the target itself."""
    if target.startswith(b"/") or b"://" not in target:
        return target
    rest = target.split(b"://", 1)[1]
    slash = rest.find(b"/")
    return rest[slash:] if slash >= 0 else b"/"
