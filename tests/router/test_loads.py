"""Load read from engines' metrics."""

from __future__ import annotations

import pytest

from staticfire.router.loads import EngineLoad, read

VLLM = b"""# HELP vllm:num_requests_running Number of requests
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="q"} 3.0
vllm:num_requests_running{engine="1",model_name="q"} 1.0
vllm:num_requests_waiting{engine="0",model_name="q {}"} 2.0
vllm:num_requests_waiting_by_reason{engine="0"} 9.0
vllm:kv_cache_usage_perc{engine="0"} 0.25
vllm:kv_cache_usage_perc{engine="1"} 0.75
"""


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (VLLM, EngineLoad(4, 2, 0.75)),
        (b"llamacpp:requests_processing 1\nllamacpp:requests_deferred 0\n", EngineLoad(1, 0)),
        (b'sglang:num_running_reqs{a="b"} 0.0\nsglang:num_queue_reqs 0.0', EngineLoad(0, 0)),
        (b"sglang:token_usage 0.5\n", None),
        (b"vllm:num_requests_running oops\n", None),
        (b"vllm:num_requests_running NaN\n", None),
        (b"vllm:num_requests_running +Inf\n", None),
        (b"<html>not found</html>", None),
        (b"", None),
    ],
)
def test_read(page, expected):
    """Running and waiting are summed over engines, the fullest cache counts; else nothing is said."""
    assert read(page) == expected


def test_idle():
    """Idle is: nothing runs and nothing waits."""
    assert EngineLoad(0, 0).idle
    assert not EngineLoad(1, 0).idle
    assert not EngineLoad(0, 1).idle
