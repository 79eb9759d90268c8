"""HTTP/1.1 on httptools, with exact ends on both sides."""

from __future__ import annotations

from staticfire.wire.answer import Answer
from staticfire.wire.client import Connection
from staticfire.wire.deadlines import Deadlines
from staticfire.wire.dial import connect
from staticfire.wire.errors import Cut, Late, Malformed, TooLarge, Unreachable, WireError
from staticfire.wire.exchange import Exchange, Reply
from staticfire.wire.head import Head, Header
from staticfire.wire.listener import Listener
from staticfire.wire.requests import Limits, Refusal, Request
from staticfire.wire.sse import Event, Splitter
from staticfire.wire.url import Address, parse_url

__all__ = [
    "Address",
    "Answer",
    "Connection",
    "Cut",
    "Deadlines",
    "Event",
    "Exchange",
    "Head",
    "Header",
    "Late",
    "Limits",
    "Listener",
    "Malformed",
    "Refusal",
    "Reply",
    "Request",
    "Splitter",
    "TooLarge",
    "Unreachable",
    "WireError",
    "connect",
    "parse_url",
]
