"""The metrics page of SGLang 0.5.23: the names of its source, floats, `_created` values."""

from __future__ import annotations

from staticfire.engine.personalities.base import Desk
from staticfire.engine.personalities.prometheus import Page, escaped

__all__ = ["page"]


def page(desk: Desk) -> bytes:
    """The gauges, counters and histograms that routers and dashboards read."""
    labels = ('engine_type="unified"', f'model_name="{escaped(desk.script.model)}"')
    one = ",".join(labels)
    stats, slots, schedule = desk.stats, desk.slots, desk.slots.schedule
    took = stats.latency()
    blocks = schedule.blocks
    used = 0 if blocks is None else blocks.used * slots.capacity.block_size
    page = Page(desk.born)
    for name, text, value in (
        ("num_running_reqs", "The number of running requests.", slots.running),
        ("num_used_tokens", "The number of used tokens.", used),
        ("token_usage", "The token usage.", schedule.usage),
        ("full_token_usage", "The token usage of full attention layers.", schedule.usage),
        ("gen_throughput", "The generation throughput (token/s).",
         1 / _mean(took.between.sum, sum(took.between.counts)) if took.between.sum else 0.0),
        ("num_queue_reqs", "The number of requests in the waiting queue.", slots.waiting),
        ("cache_hit_rate", "The prefix cache hit rate.", _mean(schedule.hits, schedule.queries)),
        ("num_paused_reqs", "The number of paused requests.",
         slots.running if desk.paused else 0),
        ("num_retracted_reqs", "The number of retracted requests.", schedule.preemptions),
    ):  # fmt: skip
        page.gauge(f"sglang:{name}", text, (one, value))
    for name, text, value in (
        ("prompt_tokens", "Number of prefill tokens processed.", stats.prompt_tokens),
        ("generation_tokens", "Number of generation tokens processed.", stats.generation_tokens),
        ("num_requests", "Number of requests processed.", sum(stats.finished.values())),
        ("num_aborted_requests", "Number of requests aborted.", stats.finished.get("abort", 0)),
    ):
        page.counter(f"sglang:{name}_total", text, (one, value))
    for name, text, values in (
        ("time_to_first_token_seconds", "Histogram of time to first token in seconds.", took.first),
        ("inter_token_latency_seconds", "Histogram of inter-token latency in seconds.",
         took.between),
        ("e2e_request_latency_seconds", "Histogram of End-to-end request latency in seconds",
         took.whole),
    ):  # fmt: skip
        page.histogram(f"sglang:{name}", text, labels, values)
    return page.bytes()


def _mean(total: float, count: int) -> float:
    return total / count if count else 0.0
