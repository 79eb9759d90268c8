"""The metrics page of vLLM 0.32.0: its names, label order and float format."""

from __future__ import annotations

from staticfire.engine.personalities.base import Desk
from staticfire.engine.personalities.prometheus import Page, escaped

__all__ = ["page"]

REASONS = ("stop", "length", "abort", "error", "repetition")


def page(desk: Desk) -> bytes:
    """The main gauges, counters and histograms as they stand now, in the capture's order."""
    model = escaped(desk.script.model)
    one = f'engine="0",model_name="{model}"'
    stats, slots, schedule = desk.stats, desk.slots, desk.slots.schedule
    waiting, asleep = slots.waiting, desk.asleep
    page = Page(desk.born)
    page.gauge(
        "vllm:num_requests_running",
        "Number of requests in model execution batches.",
        (one, slots.running),
    )
    page.gauge(
        "vllm:num_requests_waiting",
        "Number of requests waiting to be processed.",
        (one, waiting),
    )
    page.gauge(
        "vllm:num_requests_waiting_by_reason",
        "Number of waiting requests by reason.",
        (f'{one},reason="capacity"', waiting),
        (f'{one},reason="deferred"', 0),
    )
    page.gauge(
        "vllm:engine_sleep_state",
        "Engine sleep state; awake = 0 means engine is sleeping; awake = 1 means engine is awake.",
        (f'{one},sleep_state="awake"', not asleep),
        (f'{one},sleep_state="weights_offloaded"', asleep),
        (f'{one},sleep_state="discard_all"', 0),
    )
    page.gauge(
        "vllm:kv_cache_usage_perc",
        "KV-cache usage. 1 means 100 percent usage.",
        (one, schedule.usage),
    )
    for name, text, value in (
        ("prefix_cache_queries", "Prefix cache queries, in tokens.", schedule.queries),
        ("prefix_cache_hits", "Prefix cache hits, in tokens.", schedule.hits),
        (
            "num_preemptions",
            "Cumulative number of preemption from the engine.",
            schedule.preemptions,
        ),
        ("prompt_tokens", "Number of prefill tokens processed.", stats.prompt_tokens),
        ("generation_tokens", "Number of generation tokens processed.", stats.generation_tokens),
    ):
        page.counter(f"vllm:{name}_total", text, (one, value))
    page.counter(
        "vllm:request_success_total",
        "Count of successfully processed requests.",
        *(
            (
                f'engine="0",finished_reason="{reason}",model_name="{model}"',
                stats.finished.get(reason, 0),
            )
            for reason in REASONS
        ),
    )
    page.counter(
        "vllm:admission_rejections_total",
        "Number of requests rejected at admission.",
        (f'model_name="{model}",reason="max_num_queued_reqs"', stats.shed.get("requests", 0)),
        (f'model_name="{model}",reason="max_num_queued_tokens"', stats.shed.get("tokens", 0)),
    )
    took = stats.latency()
    labels = ('engine="0"', f'model_name="{model}"')
    for name, text, values in (
        ("request_num_preemptions", "Preemptions of a request.", took.preempted),
        ("time_to_first_token_seconds", "Histogram of time to first token in seconds.", took.first),
        ("inter_token_latency_seconds", "Histogram of inter-token latency in seconds.",
         took.between),
        ("e2e_request_latency_seconds", "Histogram of e2e request latency in seconds.", took.whole),
    ):  # fmt: skip
        page.histogram(f"vllm:{name}", text, labels, values)
    return page.bytes()
