"""Tests of the fault `frames events oddly`."""

from __future__ import annotations

import json

import pytest

from staticfire.engine import FramesEventsOddly
from staticfire.errors import WrongInput


@pytest.mark.parametrize(
    ("form", "start", "end"),
    [
        ("CR", b'data: {"id"', b"}\r\rdata: [DONE]\r\r"),
        ("CRLF", b'data: {"id"', b"}\r\n\r\ndata: [DONE]\r\n\r\n"),
        ("mixed", b'data: {"id"', b"data: [DONE]\r\r"),
        ("no space", b'data:{"id"', b"data:[DONE]\n\n"),
        ("two lines", b'data: {"id":', b"data: [DONE]\n\n"),
        ("named", b'event: message\nid: 1\ndata: {"id"', b"id: 6\ndata: [DONE]\n\n"),
        ("BOM", b'\xef\xbb\xbfdata: {"id"', b"data: [DONE]\n\n"),
        ("no blank line", b'data: {"id"', b"data: [DONE]\n"),
    ],
)
def test_each_form_is_on_the_wire(http, form, start, end):
    """The stream begins and ends in that form."""
    heard, asked = http.played(FramesEventsOddly(form), stream=True)
    assert heard.body.startswith(start)
    assert heard.body.endswith(end)
    assert asked.ended == "whole"


def test_mixed_line_ends_take_turns(http):
    """LF, CRLF, CR, one event after the other."""
    body = http.played(FramesEventsOddly("mixed"), stream=True)[0].body
    assert b"\n\ndata: " in body
    assert b"\r\n\r\ndata: " in body
    assert b"\r\rdata: " in body


def test_two_lines_are_one_datum(http):
    """Joined by a line feed they are the honest JSON, as the standard says (B118)."""
    heard, _ = http.played(FramesEventsOddly("two lines"), stream=True)
    lines = heard.events[1].split(b"\n")
    assert len(lines) == 2
    assert json.loads(b"\n".join(line.removeprefix(b"data: ") for line in lines))["choices"]


def test_an_unknown_form_is_refused():
    """A form that is none names the nearest."""
    with pytest.raises(WrongInput, match='did you mean "CRLF"'):
        FramesEventsOddly("CRFL")
