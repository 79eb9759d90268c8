"""Tests of durations as people write them."""

from __future__ import annotations

import pytest

from staticfire.engine.durations import duration
from staticfire.errors import WrongInput


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("12s", 12), ("12 seconds", 12), ("1 second", 1), ("250ms", 0.25), ("1.5 s", 1.5),
        ("2min 52s", 172), ("2 minutes and 52 seconds", 172), ("1h", 3600), ("7", 7), (8, 8),
        (0.1, 0.1), ("4 min 15 s", 255),
    ],
)  # fmt: skip
def test_words_are_seconds(text, seconds):
    """Units in every usual spelling, several added up, a bare number in seconds."""
    assert duration(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "-1s", "12 x", "1s2", None, True, [1]])
def test_what_is_no_duration_is_refused(text):
    """Anything else is wrong input with an example."""
    with pytest.raises(WrongInput, match='such as "12s"'):
        duration(text, "here")
