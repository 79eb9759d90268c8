"""Tests of the fault `sends a bad status line`."""

from __future__ import annotations

import pytest

from staticfire.engine import SendsABadStatusLine
from staticfire.errors import WrongInput


@pytest.mark.parametrize("line", ["HTTP/1.1 banana OK", "HTTP/1.1 099 Odd", "HTTP/2.0 200 OK"])
def test_the_first_line_is_the_script_s(http, line):
    """The line stands where the status line would; everything behind it is honest."""
    heard, _ = http.played(SendsABadStatusLine(line))
    assert heard.data.startswith(line.encode() + b"\r\ndate: ")
    assert heard.json()["object"] == "chat.completion"


def test_the_head_of_a_stream_too(http):
    """A stream keeps its chunks behind the bad line."""
    heard, _ = http.played(SendsABadStatusLine(), stream=True)
    assert heard.data.startswith(b"HTTP/1.1 banana OK\r\n")
    assert heard.events[-1] == b"data: [DONE]"


def test_two_lines_are_refused():
    """A line with an end in it would be a header, which is another fault."""
    with pytest.raises(WrongInput, match="one line"):
        SendsABadStatusLine("HTTP/1.1 200 OK\r\nx: 1")
