"""The metrics page of vLLM 0.32.0: its names, label order and float format."""

from __future__ import annotations

from staticfire.engine.personalities.base import Desk

__all__ = ["page"]

REASONS = ("stop", "length", "abort", "error", "repetition")


def page(desk: Desk) -> bytes:
    """The main gauges and counters as they stand now, in the capture's order."""
    model = desk.script.model.replace("\\", "\\\\").replace('"', '\\"')
    one = f'engine="0",model_name="{model}"'
    stats, slots = desk.stats, desk.slots
    busy = float(slots.running)
    waiting = float(slots.waiting)
    lines: list[str] = []

    def family(name: str, kind: str, text: str, *samples: tuple[str, float]) -> None:
        base = name.removesuffix("_total") if kind == "counter" else name
        lines.append(f"# HELP {name} {text}")
        lines.append(f"# TYPE {name} {kind}")
        lines.extend(f"{name}{{{labels}}} {float(value)}" for labels, value in samples)
        if kind == "counter":
            lines.append(f"# HELP {base}_created {text}")
            lines.append(f"# TYPE {base}_created gauge")

    family(
        "vllm:num_requests_running",
        "gauge",
        "Number of requests in model execution batches.",
        (one, busy),
    )
    family(
        "vllm:num_requests_waiting",
        "gauge",
        "Number of requests waiting to be processed.",
        (one, waiting),
    )
    family(
        "vllm:num_requests_waiting_by_reason",
        "gauge",
        "Number of waiting requests by reason.",
        (f'{one},reason="capacity"', waiting),
        (f'{one},reason="deferred"', 0.0),
    )
    asleep = desk.asleep
    family(
        "vllm:engine_sleep_state",
        "gauge",
        "Engine sleep state; awake = 0 means engine is sleeping; awake = 1 means engine is awake.",
        (f'{one},sleep_state="awake"', float(not asleep)),
        (f'{one},sleep_state="weights_offloaded"', float(asleep)),
        (f'{one},sleep_state="discard_all"', 0.0),
    )
    family(
        "vllm:kv_cache_usage_perc",
        "gauge",
        "KV-cache usage. 1 means 100 percent usage.",
        (one, min(1.0, busy / slots.capacity.slots)),
    )
    family(
        "vllm:num_preemptions_total",
        "counter",
        "Cumulative number of preemption from the engine.",
        (one, 0.0),
    )
    family(
        "vllm:prompt_tokens_total",
        "counter",
        "Number of prefill tokens processed.",
        (one, float(stats.prompt_tokens)),
    )
    family(
        "vllm:generation_tokens_total",
        "counter",
        "Number of generation tokens processed.",
        (one, float(stats.generation_tokens)),
    )
    family(
        "vllm:request_success_total",
        "counter",
        "Count of successfully processed requests.",
        *(
            (
                f'engine="0",finished_reason="{reason}",model_name="{model}"',
                float(stats.finished.get(reason, 0)),
            )
            for reason in REASONS
        ),
    )
    family(
        "vllm:admission_rejections_total",
        "counter",
        "Number of requests rejected at admission.",
        (f'model_name="{model}",reason="max_num_queued_reqs"', float(stats.shed)),
        (f'model_name="{model}",reason="max_num_queued_tokens"', 0.0),
    )
    return ("\n".join(lines) + "\n").encode()
