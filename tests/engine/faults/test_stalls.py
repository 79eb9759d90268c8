"""Tests of the fault `stalls`."""

from __future__ import annotations

import pytest

from staticfire.engine import Stalls
from staticfire.errors import WrongInput


@pytest.mark.parametrize("events", [0, 3])
def test_silence_follows_so_many_events(http, events):
    """The events come at once, nothing after them, and the connection stays open."""
    heard, asked = http.played(Stalls(events=events), stream=True)
    assert len(heard.events) == events
    assert (heard.ended, asked.ended) == ("open", "held")


def test_silence_follows_so_many_bytes(http):
    """A JSON body stops in the middle of its length."""
    heard, _ = http.played(Stalls(bytes=10))
    assert (len(heard.body), heard.ended) == (10, "open")


@pytest.mark.parametrize("fields", [{}, {"bytes": 1, "events": 1}])
def test_one_place_is_needed(fields):
    """Bytes or events, and not both."""
    with pytest.raises(WrongInput, match="one of bytes, events"):
        Stalls(**fields)
