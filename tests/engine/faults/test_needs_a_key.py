"""Tests of the fault `needs a key`."""

from __future__ import annotations

from staticfire.engine import NeedsAKey


def test_without_the_key_it_is_401_in_the_engine_s_dialect(http):
    """No token and a wrong one get an error object and are told how to authenticate."""
    for headers in ((), ("Authorization: Bearer wrong",), ("Authorization: Basic sesame",)):
        heard, _ = http.played(NeedsAKey("sesame"), headers=headers)
        assert heard.status == 401
        assert heard.json()["error"]["message"] == "Invalid API Key"
        assert b"\r\nwww-authenticate: Bearer\r\n" in heard.head + b"\r\n"


def test_with_the_key_it_is_honest(http):
    """The right bearer token opens the door."""
    heard, _ = http.played(NeedsAKey("sesame"), headers=("Authorization: Bearer sesame",))
    assert heard.json()["object"] == "chat.completion"
