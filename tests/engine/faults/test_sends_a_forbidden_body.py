"""Tests of the fault `sends a forbidden body`."""

from __future__ import annotations

import pytest

from staticfire.engine import SendsAForbiddenBody
from staticfire.errors import WrongInput


@pytest.mark.parametrize(("status", "line"), [(204, b"204 No Content"), (304, b"304 Not Modified")])
def test_bytes_follow_a_head_that_ends_the_answer(http, status, line):
    """The body is there, with the length that the head states."""
    heard, _ = http.played(SendsAForbiddenBody(status), close=False, patience=1)
    assert heard.data.startswith(b"HTTP/1.1 " + line)
    assert b"content-length: %d" % len(heard.body) in heard.head
    assert b"a body where none may be" in heard.body


def test_where_a_body_is_allowed_it_is_no_fault():
    """Another status is wrong input, and the message names the right fault."""
    with pytest.raises(WrongInput, match="use `answers`"):
        SendsAForbiddenBody(200)
