"""Events out of a stream, wherever it was cut."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from staticfire.wire import Event, Splitter

STREAM = (
    '\ufeffdata: {"x": "é"}\n\n: comment\r\n\r\nevent: error\rdata: a\rdata:b\r\r'
    "event: lost\n\ndata\n\nid: 3\r\ndata:  two\r\n\r\ndata: [DONE]\n\n"
).encode()  # fmt: skip
EVENTS = [
    Event(b"", '{"x": "é"}'.encode()),
    Event(b"error", b"a\nb"),
    Event(b"", b" two"),
    Event(b"", b"[DONE]"),
]


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_any_cut(cuts):
    """The same events come out wherever the bytes were cut, between CR and LF too."""
    places = [0, *sorted(cuts), len(STREAM)]
    splitter = Splitter()
    events = []
    for start, end in itertools.pairwise(places):
        events += splitter.feed(STREAM[start:end])
    assert events == EVENTS


def test_every_single_byte():
    """A dribbled stream is the same stream."""
    splitter = Splitter()
    events = [event for byte in STREAM for event in splitter.feed(bytes([byte]))]
    assert events == EVENTS


def test_event_is_there_at_once():
    """An event is out as soon as its empty line is: nothing waits for the next one."""
    assert Splitter().feed(b"data: a\n\n") == [Event(b"", b"a")]
    assert Splitter().feed(b"data: a\r\r") == [Event(b"", b"a")]


def test_flush():
    """The event that the stream's end left without its empty line is given on request."""
    splitter = Splitter()
    assert splitter.feed(b"data: a\ndata: b") == []
    assert splitter.flush() == [Event(b"", b"a\nb")]
    assert splitter.flush() == []


@pytest.mark.parametrize("size", [11, 50, 5000])
def test_oversized_line_is_dropped(size):
    """A line over the limit is not held; what follows it is read."""
    splitter = Splitter(limit=10)
    events = splitter.feed(b"data: ")
    for _ in range(size):
        events += splitter.feed(b"x")
        assert len(splitter._tail) <= 11
    events += splitter.feed(b"\n\ndata: ok\n\n")
    assert events[-1] == Event(b"", b"ok")
    assert sum(len(event.data) for event in events) <= 12
