"""The metrics page of the vLLM personality, held against lines of a real one."""

from __future__ import annotations

import asyncio
import re

from golden import CAPTURES
from staticfire.clock.virtual import run
from staticfire.engine import Capacity, MockEngine, Script

REAL = [
    line
    for line in (CAPTURES / "vllm-0.32.0-metrics.txt").read_text().splitlines()
    if not line.startswith("#")
]
DIFFERS = {
    "_created": "when the process began",
    "generation_tokens_total": "a real engine had made 129 tokens by then",
    "kv_cache_usage_perc": "without KV blocks in the script it is the share of slots",
}
"""Lines whose values may differ, and why."""


def page_under_load(http, capacity, requests=2):
    """Metrics with as many requests in the engine, after three more were shed."""

    async def main():
        async with MockEngine(Script(model="tiny", capacity=capacity)) as engine:
            asks = [
                asyncio.create_task(http.talk(engine, http.chat(max_tokens=3)))
                for _ in range(requests)
            ]
            await asyncio.sleep(1)
            for _ in range(3):
                await http.talk(engine, http.chat())
            page = (await http.talk(engine, http.get("/metrics"))).body.decode()
            await asyncio.gather(*asks)
            return page, (await http.talk(engine, http.get("/metrics"))).body.decode()

    return run(main())


def test_every_line_of_the_real_page_is_there_in_its_order(http):
    """Names, labels, their order, float format, `_created` values and histogram buckets."""
    page, _ = page_under_load(http, Capacity(slots=1, queue=1, per_token=3.0))
    ours = [line for line in page.splitlines() if not line.startswith("#")]
    wanted = {line.rpartition(" ")[0] for line in REAL}
    told = [line for line in ours if line.rpartition(" ")[0] in wanted]
    assert len(told) == len(REAL)
    for mine, theirs in zip(told, REAL, strict=True):
        assert mine.rpartition(" ")[0] == theirs.rpartition(" ")[0]
        if not any(part in theirs for part in DIFFERS):
            assert mine == theirs


def test_a_created_value_is_a_unix_time_with_an_exponent(http):
    """As Python's client writes it; the same for every counter of one process."""
    page, _ = page_under_load(http, Capacity(slots=1, queue=1, per_token=3.0))
    values = set(re.findall(r"^vllm:\w+_created\{.*\} (\S+)$", page, re.MULTILINE))
    (only,) = values
    assert re.fullmatch(r"1\.\d+e\+09", only)


def test_histograms_count_what_ended(http):
    """First tokens after 0.5 and 5 s, two gaps of 2 s each, answers of 4.5 and 9 s."""
    _, page = page_under_load(http, Capacity(slots=1, queue=1, first_token=0.5, per_token=2.0))
    one = 'engine="0",model_name="tiny"'
    for line in (
        f"vllm:time_to_first_token_seconds_sum{{{one}}} 5.5",
        'vllm:time_to_first_token_seconds_bucket{engine="0",le="0.5",model_name="tiny"} 1.0',
        'vllm:time_to_first_token_seconds_bucket{engine="0",le="5.0",model_name="tiny"} 2.0',
        f"vllm:inter_token_latency_seconds_count{{{one}}} 4.0",
        f"vllm:inter_token_latency_seconds_sum{{{one}}} 8.0",
        f"vllm:e2e_request_latency_seconds_sum{{{one}}} 13.5",
        'vllm:e2e_request_latency_seconds_bucket{engine="0",le="+Inf",model_name="tiny"} 2.0',
    ):
        assert line in page.splitlines()
