"""Tests of the fault `states a wrong length`."""

from __future__ import annotations

import pytest

from staticfire.engine import StatesAWrongLength
from staticfire.errors import WrongInput


def stated(heard):
    return [
        line.partition(b": ")[2]
        for line in heard.head.split(b"\r\n")
        if line.startswith(b"content-length")
    ]


@pytest.mark.parametrize(
    ("length", "values"),
    [
        ("too short", lambda size: [size // 2]),
        ("too long", lambda size: [size * 2]),
        ("negative", lambda _: [-1]),
        ("two", lambda size: [size, size + 1]),
    ],
)
def test_the_whole_body_follows_a_length_that_it_does_not_keep(http, length, values):
    """The stated length is wrong as named; the bytes are those of the honest body."""
    heard, _ = http.played(StatesAWrongLength(length))
    assert heard.json()["object"] == "chat.completion"
    assert [int(value) for value in stated(heard)] == values(len(heard.body))


def test_a_stream_too_short_is_as_long_as_its_first_event(http):
    """A client that believes the length stops after one event (B107)."""
    heard, _ = http.played(StatesAWrongLength("too short"), stream=True)
    assert b"chunked" not in heard.head
    assert [int(value) for value in stated(heard)] == [len(heard.events[0]) + 2]
    assert heard.body.endswith(b"data: [DONE]\n\n")


def test_beside_chunks_both_framings_are_stated(http):
    """Five bytes, says the length; the chunks say otherwise (B106)."""
    heard, _ = http.played(StatesAWrongLength("beside chunks"))
    assert stated(heard) == [b"5"]
    assert b"transfer-encoding: chunked" in heard.head
    assert heard.json()["object"] == "chat.completion"


def test_an_unknown_length_is_refused_with_the_nearest():
    """A length that is none names the one that was meant."""
    with pytest.raises(WrongInput, match='did you mean "too short"'):
        StatesAWrongLength("to short")
