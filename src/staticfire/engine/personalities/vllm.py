"""The personality of vLLM 0.32.0, true to what a real server was captured saying.

Routes, header case and order, JSON key order, error shapes and stream framing are the capture's.
Added, so that a test knows who answered: the header `x-engine`, the engine's name and run token at
the start of what it says.

Flags: `--enable-request-id-headers` (an `x-request-id` in every answer) and `--shutdown-timeout N`
(SIGTERM drains for N seconds; without it, answers are ended early).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import ClassVar

from staticfire.engine.actions import Finish, Head, Headers, Terminated
from staticfire.engine.ask import Ask
from staticfire.engine.durations import duration
from staticfire.engine.personalities import uvicorn, vllm_metrics
from staticfire.engine.personalities.base import Desk, Dialect, Sigterm, register
from staticfire.engine.personalities.prompts import letters, text_of
from staticfire.engine.personalities.talk import Answer
from staticfire.engine.personalities.uvicorn import JSON, Routes, dispatch
from staticfire.engine.personalities.vllm_errors import Refusal, body_of, parse, standard
from staticfire.engine.personalities.vllm_generate import (
    VARY,
    VERSION,
    embed,
    generate,
    headers_of,
    json_answer,
)
from staticfire.engine.phases import Draining

__all__ = ["VERSION", "VLLM"]

TEMPLATE_TOKENS = 18
"""What the captured model's chat template adds to a prompt; a letter is a token there."""
TEMPLATE = "user:".ljust(TEMPLATE_TOKENS)
FIRST_TOKEN = 74
"""The captured model's token for the letter h; others are in the alphabet's order."""

GONE = 0.3
"""Seconds from SIGTERM to a closed port, when answers are ended early (seen in the capture)."""


@register("vllm")
class VLLM(Dialect):
    """vLLM's OpenAI server with its default options."""

    name = "vllm"
    flags: ClassVar[Mapping[str, str]] = {
        "--enable-request-id-headers": "every answer has an x-request-id, the request's or its own",
        "--shutdown-timeout": "seconds for which SIGTERM lets answers go on",
    }

    def endpoint(self, method: str, path: str) -> str:
        return ENDPOINT.get((method, path), "other")

    def answer(self, ask: Ask, desk: Desk) -> Answer:
        try:
            answer = dispatch(self, _routes(desk), ask, desk, VARY)
        except Refusal as no:
            body = body_of(no.status, no.message, no.kind, no.param)
            answer = json_answer(desk, no.status, body)
        if desk.script.flags and desk.script.flag("--enable-request-id-headers") is not None:
            return _identified(answer, ask, desk)
        return answer

    def complain(
        self, status: int, message: str | None, endpoint: str, desk: Desk
    ) -> tuple[Headers, bytes]:
        if endpoint == "health":  # source: 503 with an empty body when the engine is dead
            return headers_of(desk, 0, None), b""
        body = standard(status, message)
        return headers_of(desk, len(body), JSON), body

    def not_http(self, desk: Desk) -> tuple[Head, bytes]:
        return uvicorn.not_http(desk)

    def sigterm(self, desk: Desk) -> Sigterm:
        wait = desk.script.flag("--shutdown-timeout")
        seconds = duration(wait, "script: flags: --shutdown-timeout") if wait else 0
        if not seconds:
            return Sigterm("abort", Draining(seconds=GONE))
        return Sigterm("finish", Draining(seconds=seconds))

    # --- plain routes

    def health(self, _: Ask, desk: Desk) -> Answer:
        yield Head(200, headers_of(desk, 0, None))
        yield Finish()

    def version(self, _: Ask, desk: Desk) -> Answer:
        return json_answer(desk, 200, b'{"version":"%s"}' % VERSION.encode())

    def load(self, _: Ask, desk: Desk) -> Answer:
        return json_answer(desk, 200, b'{"server_load":0}')

    def metrics(self, _: Ask, desk: Desk) -> Answer:
        kind = b"text/plain; version=1.0.0; charset=utf-8"
        return json_answer(desk, 200, vllm_metrics.page(desk), kind)

    def models(self, ask: Ask, desk: Desk) -> Answer:
        created = desk.wall()
        cards = []
        for index, model in enumerate(desk.script.served if desk.lists else ()):
            permission = {
                "id": f"modelperm-{desk.identity.id(ask.number * 64 + index)}",
                "object": "model_permission",
                "created": created,
                "allow_create_engine": False,
                "allow_sampling": True,
                "allow_logprobs": True,
                "allow_search_indices": False,
                "allow_view": True,
                "allow_fine_tuning": False,
                "organization": "*",
                "group": None,
                "is_blocking": False,
            }
            cards.append(
                {
                    "id": model,
                    "object": "model",
                    "created": created,
                    "owned_by": "vllm",
                    "root": model,
                    "parent": None,
                    "max_model_len": desk.script.max_model_len,
                    "permission": [permission],
                }
            )
        listing = {"object": "list", "data": cards}
        body = json.dumps(listing, separators=(",", ":"), ensure_ascii=False)
        return json_answer(desk, 200, body.encode())

    # --- sleep and pause

    def sleep(self, ask: Ask, desk: Desk) -> Answer:
        level = _number(ask.query, "level", 1)
        desk.sleep(level)
        return json_answer(desk, 200, b'{"status":"sleeping","level":%d}' % level)

    def wake_up(self, _: Ask, desk: Desk) -> Answer:
        desk.wake()
        return json_answer(desk, 200, b'{"status":"awake","tags":null}')

    def is_sleeping(self, _: Ask, desk: Desk) -> Answer:
        return json_answer(desk, 200, b'{"is_sleeping":%s}' % _bool(desk.asleep))

    def pause(self, _: Ask, desk: Desk) -> Answer:
        desk.pause(on=True)
        return json_answer(desk, 200, b'{"status":"paused"}')

    def resume(self, _: Ask, desk: Desk) -> Answer:
        desk.pause(on=False)
        return json_answer(desk, 200, b'{"status":"resumed"}')

    def is_paused(self, _: Ask, desk: Desk) -> Answer:
        return json_answer(desk, 200, b'{"is_paused":%s}' % _bool(desk.paused))

    # --- inference

    def chat(self, ask: Ask, desk: Desk) -> Answer:
        body = parse(ask.headers.get("content-type"), ask.body, "messages")
        asked = body["messages"]
        prompt = TEMPLATE_TOKENS + letters(asked)
        return generate(ask, desk, body, prompt, [TEMPLATE, asked], "chat")

    def completions(self, ask: Ask, desk: Desk) -> Answer:
        body = parse(ask.headers.get("content-type"), ask.body, "prompt")
        return generate(ask, desk, body, letters(body["prompt"]), body["prompt"], "completion")

    def tokenize(self, ask: Ask, desk: Desk) -> Answer:
        body = parse(ask.headers.get("content-type"), ask.body, "prompt")
        tokens = [ord(letter) - ord("h") + FIRST_TOKEN for letter in text_of(body["prompt"])]
        told = {
            "count": len(tokens),
            "max_model_len": desk.script.max_model_len,
            "tokens": tokens,
            "token_strs": None,
        }
        return json_answer(desk, 200, json.dumps(told, separators=(",", ":")).encode())

    def embeddings(self, ask: Ask, desk: Desk) -> Answer:
        return embed(ask, desk, parse(ask.headers.get("content-type"), ask.body, "input"))


def _number(query: str, name: str, default: int) -> int:
    for part in query.split("&"):
        key, _, value = part.partition("=")
        if key == name and value.isdigit():
            return int(value)
    return default


def _identified(answer: Answer, ask: Ask, desk: Desk) -> Answer:
    """The answer with the request's id, or one of its own, in its head."""
    own = ask.headers.get("x-request-id") or f"{desk.identity.id(ask.number)}{desk.identity.id(0)}"
    told: Terminated | None = None
    while True:
        try:
            action = next(answer) if told is None else answer.throw(told)
        except StopIteration:
            return
        if isinstance(action, Head):
            *fields, engine = action.headers
            action = action._replace(headers=(*fields, (b"x-request-id", own.encode()), engine))
        told = None
        try:
            yield action
        except Terminated as why:
            told = why


def _bool(value: bool) -> bytes:
    return b"true" if value else b"false"


ENDPOINT = {
    ("GET", "/health"): "health",
    ("GET", "/v1/models"): "models",
    ("POST", "/v1/chat/completions"): "chat",
    ("POST", "/v1/completions"): "completions",
    ("POST", "/v1/embeddings"): "embeddings",
}
PLAIN: Routes = {
    "/health": {"GET": VLLM.health},
    "/ping": {"GET": VLLM.health, "POST": VLLM.health},
    "/version": {"GET": VLLM.version},
    "/load": {"GET": VLLM.load},
    "/metrics": {"GET": VLLM.metrics},
    "/v1/models": {"GET": VLLM.models},
}
GENERATES: Routes = {
    **PLAIN,
    "/v1/chat/completions": {"POST": VLLM.chat},
    "/v1/completions": {"POST": VLLM.completions},
    "/tokenize": {"POST": VLLM.tokenize},
}
EMBEDS: Routes = {**PLAIN, "/v1/embeddings": {"POST": VLLM.embeddings}}
DEVELOPMENT: Routes = {
    "/sleep": {"POST": VLLM.sleep},
    "/wake_up": {"POST": VLLM.wake_up},
    "/is_sleeping": {"GET": VLLM.is_sleeping},
    "/pause": {"POST": VLLM.pause},
    "/resume": {"POST": VLLM.resume},
    "/is_paused": {"GET": VLLM.is_paused},
}
GENERATES_DEV, EMBEDS_DEV = {**GENERATES, **DEVELOPMENT}, {**EMBEDS, **DEVELOPMENT}


def _routes(desk: Desk) -> Routes:
    if desk.sleepable:
        return EMBEDS_DEV if desk.script.embeddings else GENERATES_DEV
    return EMBEDS if desk.script.embeddings else GENERATES
