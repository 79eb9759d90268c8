"""Tests of the fault `answers with a wrong body`."""

from __future__ import annotations

import json

import pytest

from staticfire.engine import AnswersWithAWrongBody
from staticfire.errors import WrongInput


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "body", ["HTML", "nothing", "half its JSON", "bad UTF-8", "an error object", "another model"]
)
def test_it_is_whole_by_its_framing(http, body, stream):
    """A 200 whose length or chunks are right: nothing but the body is wrong."""
    heard, asked = http.played(AnswersWithAWrongBody(body), stream=stream, close=False, patience=1)
    assert heard.status == 200
    if b"chunked" in heard.head:
        assert heard.data.endswith(b"0\r\n\r\n")
    else:
        assert b"content-length: %d" % len(heard.body) in heard.head
    assert asked.ended == "whole"


def test_half_the_json_of_one_event(http):
    """In a stream the frame of the second event is whole and its JSON is not (B032)."""
    heard, _ = http.played(AnswersWithAWrongBody("half its JSON"), stream=True)
    first, second, third = (event.removeprefix(b"data: ") for event in heard.events[:3])
    assert json.loads(first)
    assert json.loads(third)
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        json.loads(second)


def test_a_stream_of_nothing_has_no_event(http):
    """The content type of a stream, and not one byte of it (B052)."""
    heard, _ = http.played(AnswersWithAWrongBody("nothing"), stream=True)
    assert b"text/event-stream" in heard.head
    assert heard.body == b""


def test_bad_utf_8_is_in_the_text(http):
    """The rest of the body is as it was: only the text does not decode."""
    heard, _ = http.played(AnswersWithAWrongBody("bad UTF-8"))
    assert b'"content":"\xff' in heard.body
    assert json.loads(heard.body.replace(b"\xff", b""))["object"] == "chat.completion"


def test_an_unknown_body_is_refused():
    """A body that is none names the nearest."""
    with pytest.raises(WrongInput, match='did you mean "HTML"'):
        AnswersWithAWrongBody("HTLM")
