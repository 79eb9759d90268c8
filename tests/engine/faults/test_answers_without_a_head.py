"""Tests of the fault `answers without a head`."""

from __future__ import annotations

import json

from staticfire.engine import AnswersWithoutAHead


def test_the_body_is_all_there_is(http):
    """A JSON body from the first byte on, ended by the connection."""
    heard, _ = http.played(AnswersWithoutAHead(), close=False)
    assert json.loads(heard.data)["object"] == "chat.completion"
    assert heard.ended == "fin"


def test_a_stream_is_bare_events(http):
    """No chunk sizes stand between the events."""
    heard, asked = http.played(AnswersWithoutAHead(), stream=True)
    assert heard.data.startswith(b"data: {")
    assert heard.data.endswith(b"data: [DONE]\n\n")
    assert asked.status is None
