"""Tests of the fault `speaks another protocol`."""

from __future__ import annotations

import pytest

from staticfire.engine import SpeaksAnotherProtocol
from staticfire.errors import WrongInput


@pytest.mark.parametrize(
    ("protocol", "start"),
    [
        ("SSH", b"SSH-2.0-"),
        ("SMTP", b"220 "),
        ("Redis", b"-ERR "),
        ("TLS", b"\x15\x03"),
        ("HTTP/2", b"\x00\x00\x00\x04"),
    ],
)
def test_its_first_words_are_all_there_is(http, protocol, start):
    """The words of that protocol come, then the end of the connection."""
    heard, _ = http.played(SpeaksAnotherProtocol(protocol), close=False)
    assert heard.data.startswith(start)
    assert heard.ended == "fin"


def test_an_unknown_protocol_is_refused():
    """A protocol that has no words here is wrong input."""
    with pytest.raises(WrongInput, match='did you mean "SMTP"'):
        SpeaksAnotherProtocol("SMPT")
