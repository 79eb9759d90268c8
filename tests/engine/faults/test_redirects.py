"""Tests of the fault `redirects`."""

from __future__ import annotations

import pytest

from staticfire.engine import Redirects
from staticfire.errors import WrongInput


@pytest.mark.parametrize(
    ("to", "location"),
    [
        ("http://other.test/v1", b"http://other.test/v1"),
        ("/v1/chat/completions/", b"http://engine/v1/chat/completions/"),
    ],
)
def test_the_location_is_the_script_s(http, to, location):
    """An address goes out as it stands; a path gets the host that the client sent (B139)."""
    heard, asked = http.played(Redirects(to, 302))
    assert heard.status == asked.status == 302
    assert b"\r\nlocation: " + location + b"\r\n" in heard.head
    assert heard.body == b""


@pytest.mark.parametrize("fields", [{"to": ""}, {"to": "a\r\nb"}, {"to": "/x", "status": 200}])
def test_what_is_no_redirect_is_refused(fields):
    """No target, one that would break the head, and a status that redirects nobody."""
    with pytest.raises(WrongInput, match="redirects"):
        Redirects(**fields)
