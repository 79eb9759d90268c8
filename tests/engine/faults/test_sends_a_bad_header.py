"""Tests of the fault `sends a bad header`."""

from __future__ import annotations

import pytest

from staticfire.engine import SendsABadHeader
from staticfire.errors import WrongInput


@pytest.mark.parametrize(
    ("header", "raw"),
    [
        ("without a colon", b"\r\nthis line has none\r\n"),
        ("without a name", b"\r\n: 1\r\n"),
        ("folded", b"\r\nx-odd: one\r\n two\r\n"),
        ("with a NUL", b"\r\nx-odd: a\0b\r\n"),
        ("in Latin-1", b"\r\nx-odd: caf\xe9\r\n"),
        ("with a space before its colon", b"\r\nx-odd : 1\r\n"),
        ("with a bare CR", b"\r\nx-odd: a\rb\r\n"),
        ("with a bare LF", b"\r\nx-odd: 1\nx-odder: 2\r\n"),
    ],
)
def test_one_line_of_the_head_is_bad(http, header, raw):
    """The line stands in the head as named; the body is whole behind it."""
    heard, _ = http.played(SendsABadHeader(header))
    assert raw in heard.head + b"\r\n"
    assert heard.json()["object"] == "chat.completion"


def test_an_unknown_way_is_refused():
    """A way that is none names the nearest."""
    with pytest.raises(WrongInput, match='did you mean "folded"'):
        SendsABadHeader("foldet")
