"""Tests of the fault `claims an encoding`."""

from __future__ import annotations

from staticfire.engine import ClaimsAnEncoding


def test_the_head_says_gzip_and_the_body_is_plain(http):
    """The header is there, the bytes are the honest ones with their length."""
    heard, _ = http.played(ClaimsAnEncoding())
    assert b"\r\ncontent-encoding: gzip\r\n" in heard.head + b"\r\n"
    assert b"content-length: %d\r\n" % len(heard.body) in heard.head
    assert heard.json()["object"] == "chat.completion"
