"""Tests of the fault `sends comments`."""

from __future__ import annotations

import pytest

from staticfire.engine import NeverAnswers, SendsComments, Stalls, Waits
from staticfire.errors import WrongInput


def test_one_stands_before_each_event(http):
    """A comment line and a blank one before every event, the last one too."""
    heard, _ = http.played(SendsComments(text=" ping"), stream=True)
    assert heard.events[0::2] == [b": ping"] * 6
    assert all(event.startswith(b"data: ") for event in heard.events[1::2])


def test_silence_is_filled_to_the_nanosecond(http):
    """A pause of 100 s has a comment at 30, 60 and 90 s, and ends when it would have."""
    heard, _ = http.played(Waits(before_first_token=100), SendsComments(30.0), stream=True)
    assert heard.times == [0, 30, 60, 90, 100]


def test_a_pause_of_just_that_length_has_none(http):
    """The event itself breaks the silence."""
    heard, _ = http.played(Waits(before_first_token=30), SendsComments(30.0), stream=True)
    assert heard.times == [0, 30]


def test_a_stream_held_open_is_filled_for_ever(http):
    """llama.cpp did that to clients of a server that was told to stop (captured)."""
    heard, _ = http.played(Stalls(events=1), SendsComments(30.0), stream=True, patience=3601)
    assert heard.body.count(b":\n\n") == 120
    assert heard.ended == "open"


def test_what_is_no_stream_is_honest(http):
    """A JSON answer has no place for comments, and an answer that never comes has none."""
    heard, _ = http.played(Waits(before_first_token=100), SendsComments(30.0))
    assert heard.json()["object"] == "chat.completion"
    heard, _ = http.played(NeverAnswers(), SendsComments(30.0), stream=True)
    assert heard.data == b""


@pytest.mark.parametrize("fields", [{"every": 0.0}, {"text": "a\nb"}])
def test_what_would_be_no_comment_is_refused(fields):
    """Time must pass between them, and a line is one line."""
    with pytest.raises(WrongInput, match="sends comments"):
        SendsComments(**fields)
