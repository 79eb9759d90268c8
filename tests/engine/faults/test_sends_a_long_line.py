"""Tests of the fault `sends a long line`."""

from __future__ import annotations

import json

import pytest

from staticfire.engine import SendsALongLine
from staticfire.errors import WrongInput


@pytest.mark.parametrize("stream", [False, True])
def test_one_line_is_that_much_longer_and_still_json(http, stream):
    """Two MiB more in the first event, or in the body, whose length says so."""
    honest, _ = http.played(stream=stream)
    heard, asked = http.played(SendsALongLine(), stream=stream)
    assert len(heard.body) == len(honest.body) + 2 * 1024 * 1024
    first = heard.events[0].removeprefix(b"data: ")
    assert json.loads(first)["choices"]
    assert asked.ended == "whole"


def test_a_line_too_short_to_be_longer_is_refused():
    """The padding has a name, which takes bytes."""
    with pytest.raises(WrongInput, match="sends a long line"):
        SendsALongLine(1)
