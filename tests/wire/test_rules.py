"""Whose rule is whose: llhttp's, or ours where llhttp is lenient."""

from __future__ import annotations

import httptools
import pytest

from staticfire.wire.errors import Malformed
from staticfire.wire.head import hop_by_hop, judge_reply_head, judge_request_head

REPLIES = [
    # what, raw, whose rule refuses it
    ("status 099", b"HTTP/1.1 099 X\r\ncontent-length: 0\r\n\r\n", "wire"),
    ("status 999", b"HTTP/1.1 999 X\r\ncontent-length: 0\r\n\r\n", "wire"),
    ("status of two digits", b"HTTP/1.1 20 X\r\n\r\n", "llhttp"),
    ("gzip coding", b"HTTP/1.1 200 X\r\ntransfer-encoding: gzip\r\n\r\n", "wire"),
    ("gzip then chunked", b"HTTP/1.1 200 X\r\ntransfer-encoding: gzip, chunked\r\n\r\n", "wire"),
    ("chunked then gzip", b"HTTP/1.1 200 X\r\ntransfer-encoding: chunked, gzip\r\n\r\n", "wire"),
    ("chunked on 1.0", b"HTTP/1.0 200 X\r\ntransfer-encoding: chunked\r\n\r\n", "wire"),
    ("length and chunked", b"HTTP/1.1 200 X\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n", "llhttp"),
    ("chunked and length", b"HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n", "llhttp"),
    ("two lengths", b"HTTP/1.1 200 X\r\ncontent-length: 5\r\ncontent-length: 5\r\n\r\n", "llhttp"),
    ("a list of lengths", b"HTTP/1.1 200 X\r\ncontent-length: 5, 5\r\n\r\n", "llhttp"),
    ("a negative length", b"HTTP/1.1 200 X\r\ncontent-length: -1\r\n\r\n", "llhttp"),
    ("HTTP/9.9", b"HTTP/9.9 200 X\r\ncontent-length: 0\r\n\r\n", "llhttp"),
    ("HTTP/2.0", b"HTTP/2.0 200 X\r\ncontent-length: 0\r\n\r\n", "wire"),
    ("a NUL in a value", b"HTTP/1.1 200 X\r\na: b\x00c\r\n\r\n", "llhttp"),
    ("a folded header", b"HTTP/1.1 200 X\r\na: b\r\n c\r\n\r\n", "llhttp"),
    ("bare line feeds", b"HTTP/1.1 200 X\ncontent-length: 0\n\n", "llhttp"),
    ("a header without colon", b"HTTP/1.1 200 X\r\nabc\r\n\r\n", "llhttp"),
    ("a bad chunk size", b"HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", "llhttp"),
    ("a chunk without its end", b"HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\n1\r\nabc", "llhttp"),
    ("plain", b"HTTP/1.1 200 X\r\ncontent-length: 0\r\n\r\n", "nobody"),
    ("no reason phrase", b"HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n", "nobody"),
]  # fmt: skip

REQUESTS = [
    ("no Host on 1.1", b"GET / HTTP/1.1\r\n\r\n", 400),
    ("two Hosts", b"GET / HTTP/1.1\r\nhost: a\r\nHost: a\r\n\r\n", 400),
    ("two Hosts on 1.0", b"GET / HTTP/1.0\r\nhost: a\r\nhost: b\r\n\r\n", 400),
    ("no Host on 1.0", b"GET / HTTP/1.0\r\n\r\n", None),
    ("gzip coding", b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip, chunked\r\n\r\n", 501),
    ("chunked on 1.0", b"POST / HTTP/1.0\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n", 400),
    ("gzip alone", b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip\r\n\r\n", 501),
    ("HTTP/2.0", b"GET / HTTP/2.0\r\nhost: a\r\n\r\n", 505),
    ("an odd Expect", b"POST / HTTP/1.1\r\nhost: a\r\nexpect: tea\r\ncontent-length: 1\r\n\r\n", 417),
    ("length and chunked", b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n", "llhttp"),
    ("two lengths", b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ncontent-length: 5\r\n\r\n", "llhttp"),
    ("a space before the colon", b"GET / HTTP/1.1\r\nhost : a\r\n\r\n", "llhttp"),
    ("an unknown method", b"FOO / HTTP/1.1\r\nhost: a\r\n\r\n", "llhttp"),
    ("a control character in the target", b"GET /\x01 HTTP/1.1\r\nhost: a\r\n\r\n", "llhttp"),
    ("the preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "llhttp"),
    ("plain", b"GET / HTTP/1.1\r\nhost: a\r\n\r\n", None),
]  # fmt: skip


class Probe:
    """Runs llhttp alone and keeps the head that it lets through."""

    def __init__(self, kind):
        self.headers, self.head = [], None
        self.parser = kind(self)

    def on_header(self, name, value):
        self.headers.append((name, value))

    def on_headers_complete(self):
        self.head = tuple(self.headers)


@pytest.mark.parametrize(("what", "raw", "whose"), REPLIES)
def test_reply_rules(what, raw, whose):
    """Each malformed reply is refused by exactly the one the table names."""
    probe = Probe(httptools.HttpResponseParser)
    try:
        probe.parser.feed_data(raw)
    except httptools.HttpParserError:
        assert whose == "llhttp"
        return
    assert whose in ("wire", "nobody")
    try:
        judge_reply_head(
            b"GET", probe.parser.get_status_code(), probe.parser.get_http_version(), probe.head
        )
    except Malformed:
        assert whose == "wire"
    else:
        assert whose == "nobody"


@pytest.mark.parametrize(("what", "raw", "verdict"), REQUESTS)
def test_request_rules(what, raw, verdict):
    """Each wrong request is refused by exactly the one the table names, with its status."""
    probe = Probe(httptools.HttpRequestParser)
    try:
        probe.parser.feed_data(raw)
    except httptools.HttpParserError:
        # llhttp may refuse after we have: our callback runs at the head's end, before that.
        if probe.head is None:
            assert verdict == "llhttp"
            return
    assert verdict != "llhttp"
    wrong = judge_request_head(probe.parser.get_http_version(), probe.head)
    assert (None if wrong is None else wrong[0]) == verdict


def test_hop_by_hop():
    """What Connection names belongs to the connection, not to the message."""
    names = hop_by_hop([(b"Connection", b"X-Foo, close"), (b"X-Foo", b"1")])
    assert b"x-foo" in names
    assert b"transfer-encoding" in names
    assert b"close" not in names
    assert b"x-foo" not in hop_by_hop([(b"x-foo", b"1")])
