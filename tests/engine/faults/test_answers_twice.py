"""Tests of the fault `answers twice`."""

from __future__ import annotations

import pytest

from staticfire.engine import AnswersTwice


@pytest.mark.parametrize("stream", [False, True])
def test_a_second_answer_comes_in_the_same_breath(http, stream):
    """Two whole answers in one write; the second says that nobody asked for it."""
    heard, asked = http.played(AnswersTwice(), stream=stream, close=False, patience=1)
    first, _, second = heard.data.partition(b"HTTP/1.1 200 OK\r\ncontent-type")
    assert first.endswith(b"0\r\n\r\n" if stream else b"}")
    assert b"an answer that nobody asked for" in second
    assert (len(heard.pieces), asked.ended) == (1, "whole")
