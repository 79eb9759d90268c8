"""Addresses out of URLs."""

from __future__ import annotations

import pytest

from staticfire import wire
from staticfire.errors import WrongInput


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://127.0.0.1:8000", wire.Address("127.0.0.1", 8000)),
        ("http://127.0.0.1:8000/", wire.Address("127.0.0.1", 8000)),
        ("http://gpu-3.cluster", wire.Address("gpu-3.cluster", 80)),
        ("https://gpu-3", wire.Address("gpu-3", 443, tls=True)),
        ("http://[::1]:81/base/", wire.Address("::1", 81, "/base")),
        ("HTTP://Host:80", wire.Address("host", 80)),
    ],
)
def test_address(text, expected):
    """A URL gives host, port, base path; the default port is the scheme's."""
    assert wire.parse_url(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "", "127.0.0.1:8000", "localhost:8000", "http://", "http://:80", "ftp://a:1", "http://a:b",
        "http://a:99999", "http://a:0", "http://a b:1", " http://a:1", "http://u@a:1",
        "http://a:1/?q=1", "http://a:1#f", "http://a:1/?", "http://a:1/\n", "http://{host}:1",
        "http://[::1:80",
    ],
)  # fmt: skip
def test_no_url(text):
    """What is no URL is refused, naming where it stood and what was found."""
    with pytest.raises(WrongInput) as caught:
        wire.parse_url(text, where="--worker-urls")
    assert str(caught.value).startswith("--worker-urls: expected ")
    assert repr(text) in str(caught.value)


def test_forgotten_scheme():
    """A host and port without a scheme is told how to be written."""
    with pytest.raises(WrongInput, match=r"write http://127\.0\.0\.1:8000"):
        wire.parse_url("127.0.0.1:8000")


def test_one_normal_form():
    """Two spellings of one address have the same `url`."""
    spellings = ("http://a:80/", "http://a", "HTTP://A:80")
    assert {wire.parse_url(text).url for text in spellings} == {"http://a:80"}
    assert wire.parse_url("http://[::1]:81/v").url == "http://[::1]:81/v"
