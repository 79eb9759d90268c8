"""Tests of the fault `splits the body`."""

from __future__ import annotations

import pytest

from staticfire.engine import FramesEventsOddly, SplitsTheBody, Truncates
from staticfire.errors import WrongInput


@pytest.mark.parametrize(("stream", "size"), [(False, 1), (False, 7), (True, 1), (True, 100)])
def test_each_piece_arrives_alone(http, stream, size):
    """The body is the honest one, in reads of that many bytes; no time passes for people."""
    heard, asked = http.played(SplitsTheBody(size), stream=stream)
    raw = heard.data.partition(b"\r\n\r\n")[2]
    assert len(heard.pieces) > len(raw) / (size + 10)
    assert heard.lasted < 0.001
    assert (asked.tokens, asked.ended) == (4, "whole")


def test_a_crlf_is_cut_in_two(http):
    """Pieces of one byte have every border there is."""
    heard, _ = http.played(FramesEventsOddly("CRLF"), SplitsTheBody(1), stream=True)
    pieces = [piece for _, piece in heard.pieces]
    assert b"1\r\n\r\r\n" in pieces
    assert b"1\r\n\n\r\n" in pieces


def test_an_event_in_pieces_is_one_event(http):
    """A cut after two events counts events and not pieces."""
    heard, _ = http.played(SplitsTheBody(5), Truncates(events=2), stream=True)
    assert len(heard.events) == 2


def test_pieces_of_nothing_are_refused():
    """At least one byte each."""
    with pytest.raises(WrongInput, match="at least 1"):
        SplitsTheBody(0)
