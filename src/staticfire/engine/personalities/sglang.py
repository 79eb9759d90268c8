"""The personality of SGLang 0.5.23, true to its source (it was not captured).

Health sends a request through the engine and looks once a second, so that a good answer takes a
second; it is 503 while the engine starts and while it ends. Errors are flat objects. With a full
queue a JSON request gets 503, a stream 200 and an error event. SIGTERM lets everything go on to its
end, with health at 503.

Flags: `--disaggregation-mode prefill|decode` (every request then needs a `bootstrap_room`) and the
environment's `SGLANG_ENABLE_HEALTH_ENDPOINT_GENERATION=0` (health answers at once). A mock engine
always has `/metrics`, which the real one has with `--enable-metrics` only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from staticfire.clock import ns
from staticfire.engine.actions import Abort, Head, Headers, Wait
from staticfire.engine.ask import Ask
from staticfire.engine.framing import REASONS
from staticfire.engine.personalities import sglang_metrics, uvicorn
from staticfire.engine.personalities.base import Desk, Dialect, Sigterm, register
from staticfire.engine.personalities.prompts import letters
from staticfire.engine.personalities.sglang_errors import (
    FULL,
    Refusal,
    dumped,
    error,
    invalid,
    missing,
    parse,
)
from staticfire.engine.personalities.sglang_generate import MODE, generate, model_of
from staticfire.engine.personalities.sglang_text import Voice
from staticfire.engine.personalities.talk import Answer, embedded, vectors
from staticfire.engine.personalities.uvicorn import JSON, Routes, answered, dispatch, headers
from staticfire.engine.phases import Draining, Loading

__all__ = ["VERSION", "SGLang"]

VERSION = "0.5.23"
TEMPLATE_TOKENS = 18
QUICK = "SGLANG_ENABLE_HEALTH_ENDPOINT_GENERATION"


@register("sglang")
class SGLang(Dialect):
    """SGLang's HTTP server."""

    name = "sglang"
    flags: ClassVar[Mapping[str, str]] = {
        MODE: "prefill or decode: a request without bootstrap_room is refused",
        QUICK: "0: health answers at once, without a request through the engine",
    }

    def endpoint(self, method: str, path: str) -> str:
        return ENDPOINT.get((method, path), "other")

    def answer(self, ask: Ask, desk: Desk) -> Answer:
        try:
            if ask.path.startswith("/v1/models/") and ask.method == "GET":
                return self.model(ask, desk)
            return dispatch(self, EMBEDS if desk.script.embeddings else GENERATES, ask, desk)
        except Refusal as no:
            return _said(desk, no.status, no.body)

    def complain(
        self, status: int, message: str | None, endpoint: str, desk: Desk
    ) -> tuple[Headers, bytes]:
        if endpoint == "health":
            return headers(desk, 0, None), b""
        phrase = REASONS.get(status, b"Error").decode()
        kind = "503" if status == 503 else phrase.replace(" ", "")
        text = message if message is not None else FULL if status == 503 else phrase
        body = error(status, text, kind)
        return headers(desk, len(body), JSON), body

    def not_http(self, desk: Desk) -> tuple[Head, bytes]:
        return uvicorn.not_http(desk)

    def sigterm(self, desk: Desk) -> Sigterm:
        del desk
        return Sigterm("finish", Draining(), at_idle=True)

    # --- plain routes

    def health(self, _: Ask, desk: Desk) -> Answer:
        phase = desk.phase()
        if isinstance(phase, (Loading, Draining)):
            yield from _empty(desk, 503)
            return
        if desk.script.flag(QUICK) != "0":
            yield Wait(ns(1.0))
        yield from _empty(desk, 200)

    def ready(self, _: Ask, desk: Desk) -> Answer:
        down = desk.paused or isinstance(desk.phase(), (Loading, Draining))
        return _empty(desk, 503 if down else 200)

    def ping(self, _: Ask, desk: Desk) -> Answer:
        return _empty(desk, 200)

    def models(self, _: Ask, desk: Desk) -> Answer:
        cards = [_card(desk, name) for name in (desk.script.served if desk.lists else ())]
        return _said(desk, 200, dumped({"object": "list", "data": cards}))

    def model(self, ask: Ask, desk: Desk) -> Answer:
        name = ask.path.removeprefix("/v1/models/")
        if name in desk.script.served:
            return _said(desk, 200, dumped(_card(desk, name)))
        told = {
            "message": f"The model '{name}' does not exist",
            "type": "invalid_request_error",
            "param": "model",
            "code": "model_not_found",
        }
        return _said(desk, 404, dumped({"error": told}))

    def model_info(self, _: Ask, desk: Desk) -> Answer:
        told = {
            "model_path": desk.script.model,
            "tokenizer_path": desk.script.model,
            "is_generation": not desk.script.embeddings,
            "weight_version": "default",
        }
        return _said(desk, 200, dumped(told))

    def server_info(self, _: Ask, desk: Desk) -> Answer:
        script = desk.script
        told = {
            "model_path": script.model,
            "served_model_name": script.model,
            "max_running_requests": script.capacity.slots,
            "max_queued_requests": script.capacity.queue,
            "disaggregation_mode": script.flag(MODE) or "null",
            "internal_states": [{"num_running_reqs": desk.slots.running}],
            "version": VERSION,
        }
        return _said(desk, 200, dumped(told))

    def metrics(self, _: Ask, desk: Desk) -> Answer:
        body = sglang_metrics.page(desk)
        kind = b"text/plain; version=1.0.0; charset=utf-8"
        return answered(200, headers(desk, len(body), kind), body)

    # --- control

    def pause(self, _: Ask, desk: Desk) -> Answer:
        desk.pause(on=True)
        text = b'{"message":"Generation paused successfully.","status":"ok"}'
        return _said(desk, 200, text)

    def go_on(self, _: Ask, desk: Desk) -> Answer:
        desk.pause(on=False)
        text = b'{"message":"Generation continued successfully.","status":"ok"}'
        return _said(desk, 200, text)

    def release(self, _: Ask, desk: Desk) -> Answer:
        desk.sleep(1)
        return _empty(desk, 200)

    def resume(self, _: Ask, desk: Desk) -> Answer:
        desk.wake()
        return _empty(desk, 200)

    def flush(self, _: Ask, desk: Desk) -> Answer:
        body = b"Cache flushed.\n"
        return answered(200, headers(desk, len(body), b"text/plain; charset=utf-8"), body)

    def abort(self, ask: Ask, desk: Desk) -> Answer:
        asked = parse(ask)
        rid = None if asked.get("abort_all") is True else str(asked.get("rid", ""))
        return _aborting(desk, rid)

    # --- inference

    def chat(self, ask: Ask, desk: Desk) -> Answer:
        asked = parse(ask)
        messages = asked.get("messages")
        if "messages" not in asked:
            raise Refusal(400, missing("messages"), "Bad Request")
        if not isinstance(messages, list):
            text = invalid("messages", "Input should be a valid list", "list_type", messages)
            raise Refusal(400, text, "Bad Request")
        if not messages:
            raise Refusal(400, "Messages cannot be empty.", "BadRequestError")
        prompt = TEMPLATE_TOKENS + letters(messages)
        return generate(ask, desk, asked, prompt, messages, chat=True)

    def completions(self, ask: Ask, desk: Desk) -> Answer:
        asked = parse(ask)
        if "prompt" not in asked:
            raise Refusal(400, missing("prompt"), "Bad Request")
        if not asked["prompt"]:
            raise Refusal(400, "Prompt cannot be empty", "BadRequestError")
        prompt = letters(asked["prompt"])
        return generate(ask, desk, asked, prompt, asked["prompt"], chat=False)

    def embeddings(self, ask: Ask, desk: Desk) -> Answer:
        asked = parse(ask)
        if "input" not in asked:
            raise Refusal(400, missing("input"), "Bad Request")
        given = asked["input"]
        voice = Voice("", 0, model_of(asked, desk))
        body = voice.embeddings(vectors(desk, given), letters(given))
        return embedded(desk, given, _said(desk, 200, body))


def _aborting(desk: Desk, rid: str | None) -> Answer:
    yield Abort(rid)
    yield from _empty(desk, 200)


def _card(desk: Desk, name: str) -> dict[str, Any]:
    return {
        "id": name,
        "object": "model",
        "created": desk.wall(),
        "owned_by": "sglang",
        "root": name,
        "parent": None,
        "max_model_len": desk.script.max_model_len,
    }


def _said(desk: Desk, status: int, body: bytes) -> Answer:
    return answered(status, headers(desk, len(body), JSON), body)


def _empty(desk: Desk, status: int) -> Answer:
    return answered(status, headers(desk, 0, None), b"")


ENDPOINT = {
    ("GET", "/health"): "health",
    ("GET", "/health_generate"): "health",
    ("GET", "/v1/models"): "models",
    ("POST", "/v1/chat/completions"): "chat",
    ("POST", "/v1/completions"): "completions",
    ("POST", "/v1/embeddings"): "embeddings",
}
BOTH = ("GET", "POST")
PLAIN: Routes = {
    "/health": {"GET": SGLang.health},
    "/health_generate": {"GET": SGLang.health},
    "/ready": {"GET": SGLang.ready},
    "/ping": {"GET": SGLang.ping},
    "/v1/models": {"GET": SGLang.models},
    "/model_info": {"GET": SGLang.model_info},
    "/get_model_info": {"GET": SGLang.model_info},
    "/server_info": {"GET": SGLang.server_info},
    "/get_server_info": {"GET": SGLang.server_info},
    "/metrics": {"GET": SGLang.metrics},
    "/pause_generation": {"POST": SGLang.pause},
    "/continue_generation": {"POST": SGLang.go_on},
    "/abort_request": {"POST": SGLang.abort},
    "/flush_cache": dict.fromkeys(BOTH, SGLang.flush),
    "/release_memory_occupation": dict.fromkeys(BOTH, SGLang.release),
    "/resume_memory_occupation": dict.fromkeys(BOTH, SGLang.resume),
}
GENERATES: Routes = {
    **PLAIN,
    "/v1/chat/completions": {"POST": SGLang.chat},
    "/v1/completions": {"POST": SGLang.completions},
}
EMBEDS: Routes = {**PLAIN, "/v1/embeddings": {"POST": SGLang.embeddings}}
