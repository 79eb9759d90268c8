"""Tests of the fault `omits the last chunk`."""

from __future__ import annotations

import pytest

from staticfire.engine import AnswersWithoutClosing, OmitsTheLastChunk


@pytest.mark.parametrize("stream", [False, True])
def test_every_byte_comes_and_then_the_end(http, stream):
    """All chunks but the last one are there; the connection ends in its place."""
    heard, asked = http.played(OmitsTheLastChunk(), stream=stream, close=False)
    assert b"transfer-encoding: chunked" in heard.head
    assert heard.data.endswith(b"}\r\n" if not stream else b"[DONE]\n\n\r\n")
    assert (heard.ended, asked.ended) == ("fin", "cut")


def test_on_a_connection_that_nobody_closes_it_stays_open(http):
    """After `answers without closing` nothing at all marks the end."""
    heard, asked = http.played(AnswersWithoutClosing(), OmitsTheLastChunk(), stream=True)
    assert heard.data.endswith(b"[DONE]\n\n\r\n")
    assert (heard.ended, asked.ended) == ("open", "held")
