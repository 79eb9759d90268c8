"""Tests of the fault `sends trailers`."""

from __future__ import annotations

from staticfire.engine import SendsTrailers


def test_fields_follow_the_last_chunk(http):
    """The trailers stand behind the last chunk and are announced in the head."""
    fault = SendsTrailers({"x-tokens": "4", "x-more": "5"})
    heard, asked = http.played(fault, close=False, patience=1)
    assert b"\r\ntrailer: x-tokens, x-more\r\n" in heard.head
    assert heard.data.endswith(b"\r\n0\r\nx-tokens: 4\r\nx-more: 5\r\n\r\n")
    assert (heard.json()["object"], asked.ended) == ("chat.completion", "whole")


def test_a_connection_serves_on_behind_trailers(http):
    """The answer is whole: the next request on its connection is answered."""
    two = http.chat(stream=True, close=False) + http.chat(stream=True)
    heard, _ = http.played(SendsTrailers(), request=two)
    assert heard.data.count(b"0\r\nx-checksum: 0\r\n\r\n") == 2
