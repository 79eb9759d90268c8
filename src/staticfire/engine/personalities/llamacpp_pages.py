"""What llama.cpp's server tells of itself: models, properties, slots, metrics."""

from __future__ import annotations

import json
from typing import Any

from staticfire.engine.personalities.base import Desk

__all__ = ["dumped", "metrics", "models", "props", "slots"]

DECODED = (
    "Total number of llama_decode() calls, excluding speculative decoding and multimodal decoding"
)


def dumped(value: Any) -> bytes:
    """JSON as this server writes it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def models(desk: Desk, *, architecture: bool) -> bytes:
    """The same models twice, as Ollama lists them and as OpenAI does."""
    names = desk.script.served if desk.lists else ()
    about = {"architecture": {"input_modalities": ["text"], "output_modalities": ["text"]}}
    details = {
        "parent_model": "", "format": "gguf", "family": "", "families": [""],
        "parameter_size": "", "quantization_level": "",
    }  # fmt: skip
    meta = {
        "vocab_type": 1, "n_vocab": 303, "n_ctx": desk.script.max_model_len, "n_ctx_train": 4096,
        "n_embd": 128, "n_params": 405888, "size": 1623552, "ftype": "all F32",
    }  # fmt: skip
    ollama = [
        {
            "name": name, "model": name, "modified_at": "", "size": "", "digest": "",
            "type": "model", "description": "", "tags": [""], "capabilities": ["completion"],
            "parameters": "", "details": details,
        }
        for name in names
    ]  # fmt: skip
    data = [
        {
            "id": name, "aliases": [name], "tags": [], "object": "model",
            **(about if architecture else {}),
            "created": desk.wall(), "owned_by": "llamacpp", "meta": meta,
        }
        for name in names
    ]  # fmt: skip
    return dumped({"models": ollama, "object": "list", "data": data})


def props(desk: Desk, build: str) -> bytes:
    """The properties that clients and routers read; sampling defaults are left out."""
    script = desk.script
    return dumped(
        {
            "default_generation_settings": {"params": {}, "n_ctx": script.max_model_len},
            "total_slots": script.capacity.slots,
            "model_alias": script.model,
            "model_ftype": "all F32",
            "model_path": f"{script.model}.gguf",
            "modalities": {"vision": False, "video": False, "audio": False},
            "endpoint_slots": True,
            "endpoint_props": False,
            "endpoint_metrics": True,
            "chat_template": "",
            "bos_token": "<s>",
            "eos_token": "</s>",
            "build_info": build,
            "is_sleeping": desk.asleep,
            "cors_proxy_enabled": False,
        }
    )


def slots(desk: Desk) -> bytes:
    """One object a slot; the first ones are those that work."""
    capacity, running = desk.script.capacity, desk.slots.running
    return dumped(
        [
            {
                "id": number,
                "n_ctx": desk.script.max_model_len,
                "speculative": False,
                "is_processing": number < running,
            }
            for number in range(capacity.slots)
        ]
    )


def metrics(desk: Desk) -> bytes:
    """Every name of the capture, without labels; whole numbers have no point."""
    stats, schedule, took = desk.stats, desk.slots.schedule, desk.stats.latency()
    decoding = took.between.sum
    speed = stats.generation_tokens / decoding if decoding else 0
    prefilling = max(0.0, took.first.sum)
    lines = []
    for kind, name, text, value in (
        ("counter", "prompt_tokens_total",
         "Number of prompt tokens processed, excluding cached tokens",
         stats.prompt_tokens - schedule.hits),
        ("counter", "prompt_tokens_cached_total", "Number of prompt tokens reused from the cache",
         schedule.hits),
        ("counter", "prompt_seconds_total", "Total time spent processing prompts", prefilling),
        ("counter", "tokens_predicted_total", "Number of generation tokens processed",
         stats.generation_tokens),
        ("counter", "tokens_predicted_seconds_total", "Total time spent generating tokens",
         decoding),
        ("counter", "n_decode_total", DECODED, stats.generation_tokens),
        ("counter", "n_tokens_max", "Largest observed sequence length (prompt + generation)", 0),
        ("counter", "spec_decode_num_draft_tokens_total",
         "Speculative: Total draft tokens generated", 0),
        ("counter", "spec_decode_num_accepted_tokens_total",
         "Speculative: Total draft tokens accepted by the target model", 0),
        ("counter", "spec_decode_num_drafts_total",
         "Speculative: Total speculative decoding verification steps", 0),
        ("gauge", "prompt_tokens_seconds", "Average prompt throughput in tokens/s",
         stats.prompt_tokens / prefilling if prefilling else 0),
        ("gauge", "predicted_tokens_seconds", "Average generation throughput in tokens/s", speed),
        ("gauge", "requests_processing", "Number of requests processing", desk.slots.running),
        ("gauge", "requests_deferred", "Number of requests deferred", desk.slots.waiting),
        ("gauge", "n_busy_slots_per_decode", "Average number of busy slots per llama_decode() call",
         min(1, stats.generation_tokens)),
    ):  # fmt: skip
        lines += [
            f"# HELP llamacpp:{name} {text}",
            f"# TYPE llamacpp:{name} {kind}",
            f"llamacpp:{name} {value:g}"
            if isinstance(value, float)
            else f"llamacpp:{name} {value}",
        ]
    return ("\n".join(lines) + "\n").encode()
