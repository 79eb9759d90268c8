"""Tests of the fault `switches protocols`."""

from __future__ import annotations

from staticfire.engine import SwitchesProtocols


def test_a_tunnel_opens_that_nobody_asked_for(http):
    """A 101 with its two fields, a few bytes of the other protocol, and an open connection."""
    heard, asked = http.played(SwitchesProtocols())
    assert heard.data == (
        b"HTTP/1.1 101 Switching Protocols\r\n"
        b"connection: Upgrade\r\nupgrade: websocket\r\n\r\n\x81\x05hello"
    )
    assert (heard.ended, asked.status, asked.ended) == ("open", 101, "held")
