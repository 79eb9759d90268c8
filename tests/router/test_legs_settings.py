"""How a launch names its legs."""

from __future__ import annotations

import pytest

from staticfire.errors import WrongInput
from staticfire.router import Settings
from staticfire.router.legs_settings import Leg, leg

P, D = "http://127.0.0.1:1", "http://127.0.0.1:2"


@pytest.mark.parametrize(
    ("text", "found"),
    [(P, Leg(P)), (f"{P} 8998", Leg(P, 8998)), (f"{P}/ none", Leg(P)), (f" {P} None", Leg(P))],
)
def test_a_prefill_leg_may_have_a_bootstrap_port(text, found):
    """As the SGLang router reads it: a number, none, or nothing."""
    assert leg(text, "--prefill") == found


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"prefill": (P,)}, "--prefill: expected --pd-disaggregation"),
        ({"pd_disaggregation": "vllm", "prefill": (P,)}, "--decode: expected at least one URL"),
        ({"pd_disaggregation": "vllm", "decode": (D,)}, "--prefill: expected at least one URL"),
        ({"pd_disaggregation": "vlm", "prefill": (P,), "decode": (D,)}, "vllm"),
        ({"pd_disaggregation": "vllm", "prefill": (P,), "decode": (P,)}, "one role"),
        ({"pd_disaggregation": "vllm", "prefill": (P,), "decode": (f"{D} 7",)}, "no port"),
        ({"pd_disaggregation": "sglang", "prefill": (f"{P} 99999",), "decode": (D,)}, "65535"),
        ({"pd_disaggregation": "sglang", "prefill": ("no",), "decode": (D,)}, "URL"),
        (
            {"pd_disaggregation": "vllm", "prefill": (P,), "decode": (D,), "worker_urls": (P,)},
            "--worker-urls: expected to be left out",
        ),
    ],
)
def test_legs_that_make_no_pairs_are_refused(settings, words):
    """The message names the flag and what is missing."""
    with pytest.raises(WrongInput, match=words):
        Settings(**settings)
