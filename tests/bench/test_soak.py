"""The soak's verdict tells growth from a look that fell on something under way."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def soak(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("bench.soak")


def looks(soak, rss=lambda n: 50.0, tasks=lambda n: 7, files=lambda n: 14):
    return [soak.Look(rss(n), tasks(n), files(n), n * 1000) for n in range(30)]


def test_what_stays_is_good(soak):
    """A peak in one look is a check that was under way."""
    assert soak.verdict(looks(soak, files=lambda n: 40 if n == 29 else 14))[0]


@pytest.mark.parametrize(
    "grows",
    [
        {"rss": lambda n: 50.0 + n},
        {"tasks": lambda n: 7 + n // 10},
        {"files": lambda n: 14 + n},
    ],
)
def test_what_grows_is_named(soak, grows):
    """Memory, tasks and sockets each make the verdict bad by themselves."""
    good, words = soak.verdict(looks(soak, **grows))
    assert not good
    assert "requests" in words
