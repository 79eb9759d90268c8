"""Tests of the fault `sends an interim answer`."""

from __future__ import annotations

import pytest

from staticfire.engine import SendsAnInterimAnswer
from staticfire.errors import WrongInput


@pytest.mark.parametrize(
    ("status", "raw"),
    [
        (100, b"HTTP/1.1 100 Continue\r\n\r\n"),
        (103, b"HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload\r\n\r\n"),
    ],
)
def test_it_comes_before_the_answer(http, status, raw):
    """So many interim answers, then the honest one."""
    heard, asked = http.played(SendsAnInterimAnswer(status, times=2))
    assert heard.data.startswith(raw * 2 + b"HTTP/1.1 200 OK\r\n")
    assert (asked.status, asked.ended) == (200, "whole")


def test_alone_nothing_follows(http):
    """Without a final answer the connection stays open behind the interim one."""
    heard, asked = http.played(SendsAnInterimAnswer(final=False))
    assert heard.data == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert (heard.ended, asked.ended) == ("open", "held")


@pytest.mark.parametrize("status", [99, 101, 200])
def test_what_is_no_interim_status_is_refused(status):
    """A final status is no interim answer, and 101 ends HTTP."""
    with pytest.raises(WrongInput, match="from 100 to 199"):
        SendsAnInterimAnswer(status)
