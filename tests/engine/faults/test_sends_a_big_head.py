"""Tests of the fault `sends a big head`."""

from __future__ import annotations

import pytest

from staticfire.engine import SendsABigHead
from staticfire.errors import WrongInput


def test_so_many_fields_of_so_many_bytes_are_added(http):
    """Each added line has its size, name and colon included."""
    heard, _ = http.played(SendsABigHead(headers=1000, bytes=24))
    more = [line for line in heard.head.split(b"\r\n") if line.startswith(b"x-more-")]
    assert len(more) == len(set(more)) == 1000
    assert {len(line) for line in more} == {24}


def test_a_megabyte_in_one_field(http):
    """One field may be longer than any buffer."""
    heard, _ = http.played(SendsABigHead(headers=1, bytes=1_000_000))
    assert len(heard.head) > 1_000_000
    assert heard.json()["object"] == "chat.completion"


@pytest.mark.parametrize("fields", [{"headers": 0}, {"bytes": 5}])
def test_a_head_that_cannot_be_is_refused(fields):
    """At least one field, long enough for its name."""
    with pytest.raises(WrongInput, match="20 bytes or more"):
        SendsABigHead(**fields)
