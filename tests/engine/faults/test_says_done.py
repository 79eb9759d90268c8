"""Tests of the fault `says [DONE]`."""

from __future__ import annotations

import json

import pytest

from staticfire.engine import SaysDone
from staticfire.errors import WrongInput

DONE = b"data: [DONE]"


def test_alone_it_is_the_whole_stream(http):
    """No event stands before it, and the stream is whole by its framing."""
    heard, asked = http.played(SaysDone(), stream=True)
    assert heard.events == [DONE]
    assert (heard.data.endswith(b"0\r\n\r\n"), asked.ended) == (True, "whole")


def test_after_some_events_there_is_no_finish_reason(http):
    """That is how vLLM's streams end when it is stopped (captured)."""
    heard, _ = http.played(SaysDone(after=3), stream=True)
    *events, done = heard.events
    reasons = [json.loads(e.removeprefix(b"data: "))["choices"][0]["finish_reason"] for e in events]
    assert (reasons, done) == ([None] * 3, DONE)


def test_twice_follows_the_whole_stream(http):
    """Every event is there, and the end mark comes again (B146)."""
    heard, _ = http.played(SaysDone(after=None, times=2), stream=True)
    assert heard.events[-2:] == [DONE, DONE]
    assert len(heard.events) == 7


def test_a_json_answer_is_honest(http):
    """What is no stream has no end mark."""
    heard, _ = http.played(SaysDone())
    assert heard.json()["object"] == "chat.completion"


@pytest.mark.parametrize("fields", [{"times": 0}, {"after": -1}])
def test_never_is_another_fault(fields):
    """Leaving it out has its own name, which the message tells."""
    with pytest.raises(WrongInput, match=r"`omits \[DONE\]`"):
        SaysDone(**fields)
