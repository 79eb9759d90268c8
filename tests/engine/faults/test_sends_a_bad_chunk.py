"""Tests of the fault `sends a bad chunk`."""

from __future__ import annotations

import pytest

from staticfire.engine import SendsABadChunk
from staticfire.errors import WrongInput


@pytest.mark.parametrize(
    ("size", "line"),
    [("no number", b"zz"), ("negative", b"-5"), ("huge", b"f" * 17)],
)
def test_one_chunk_has_a_size_that_is_none(http, size, line):
    """After one good chunk comes the bad one; the rest of the stream follows."""
    heard, _ = http.played(SendsABadChunk(size), stream=True)
    raw = heard.data.partition(b"\r\n\r\n")[2]
    first, rest = raw.split(b"\r\n" + line + b"\r\n")
    assert first.count(b"data: ") == 1
    assert rest.startswith(b"data: ")
    assert rest.endswith(b"data: [DONE]\n\n\r\n0\r\n\r\n")


def test_a_size_that_is_too_big_is_ten_more_than_the_chunk(http):
    """The chunk's own length plus ten, in hexadecimal."""
    heard, _ = http.played(SendsABadChunk("too big", after=0))
    size, _, rest = heard.data.partition(b"\r\n\r\n")[2].partition(b"\r\n")
    assert int(size, 16) == len(rest.split(b"\r\n")[0]) + 10


def test_a_json_answer_has_two_chunks(http):
    """There is a good chunk before the bad one, and the tokens still count."""
    heard, asked = http.played(SendsABadChunk())
    raw = heard.data.partition(b"\r\n\r\n")[2]
    assert len(raw.split(b"\r\nzz\r\n")) == 2
    assert asked.tokens == 4


def test_an_unknown_size_is_refused():
    """A size that is none names those there are."""
    with pytest.raises(WrongInput, match='did you mean "huge"'):
        SendsABadChunk("hughe")
