"""Settings that cannot be used are refused with their name."""

from __future__ import annotations

import pytest

from staticfire.errors import WrongInput
from staticfire.readiness import Settings


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"probe_deadline": 0}, "probe_deadline: expected a number above zero, found 0"),
        ({"throttle": -1.0}, "throttle: expected no less than zero, found -1.0"),
        ({"interval": float("nan")}, "interval: expected a number above zero, found nan"),
        ({"accept": "provne"}, 'did you mean "proven"?'),
        ({"kind": "image"}, "expected one of auto, chat, completion, embeddings"),
    ],
)
def test_a_wrong_setting_is_named(wrong, told):
    """The error says which setting, what was expected and what came."""
    with pytest.raises(WrongInput) as caught:
        Settings(**wrong)
    assert told in str(caught.value)


def test_no_throttle_is_a_setting():
    """Zero is allowed where it has a meaning."""
    assert Settings(throttle=0.0, fresh_for=0.0).limits.throttle == 0
