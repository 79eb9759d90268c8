"""The inference answers of SGLang 0.5.23, as actions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from staticfire.engine.actions import CHUNKED, Finish, Head, Send
from staticfire.engine.ask import Ask
from staticfire.engine.personalities.base import Desk
from staticfire.engine.personalities.sglang_errors import FULL, Refusal, error_object, invalid
from staticfire.engine.personalities.sglang_text import Voice
from staticfire.engine.personalities.talk import DONE, Answer, refused, speech, streamed, whole
from staticfire.engine.personalities.uvicorn import JSON, SSE, headers

__all__ = ["MODE", "generate", "model_of"]

MODE = "--disaggregation-mode"


def generate(
    ask: Ask, desk: Desk, asked: dict[str, Any], prompt: int, text: Any, *, chat: bool
) -> Answer:
    """An answer in tokens; raises `Refusal` before anything is sent."""
    limit = asked.get("max_completion_tokens") or asked.get("max_tokens")
    for name in ("max_completion_tokens", "max_tokens"):
        value = asked.get(name)
        if value is not None and not isinstance(value, int):
            text = invalid(name, "Input should be a valid integer", "int_type", value)
            raise Refusal(400, text, "Bad Request")
        if value is not None and value < 1:
            raise Refusal(400, "max_completion_tokens must be positive", "BadRequestError")
    most = desk.script.max_model_len
    if prompt >= most:
        told = (
            f"The input ({prompt} tokens) is longer than the model's context length "
            f"({most} tokens)."
        )
        raise Refusal(400, told, "BadRequestError")
    if desk.script.flag(MODE) in ("prefill", "decode") and asked.get("bootstrap_room") is None:
        told = "Invalid request: Disaggregated request received without bootstrap room id."
        raise Refusal(400, told, "BadRequest")
    stream = asked.get("stream") is True
    if refused(desk, prompt) is not None:
        if stream:
            return _full(desk)
        raise Refusal(503, FULL, "503")
    said = speech(ask, desk, limit, prompt, text)
    rid = asked.get("rid")
    own = (
        rid
        if isinstance(rid, str)
        else desk.identity.id(ask.number) + desk.identity.id(-ask.number)
    )
    voice = Voice(own, desk.wall(), model_of(asked, desk))
    if stream:
        options = asked.get("stream_options")
        usage = isinstance(options, dict) and options.get("include_usage") is True
        make = voice.chat_lines if chat else voice.completion_lines
        lines = make(said.reason, prompt, len(said.tokens), usage=usage)
        return streamed(desk, Head(200, headers(desk, None, SSE), CHUNKED), said, lines)
    choices = asked.get("n") if isinstance(asked.get("n"), int) else 1

    def made(text: str, count: int, reason: str) -> tuple[Head, bytes]:
        if chat:
            body = voice.chat([text] * (choices or 1), reason, prompt, count * (choices or 1))
        else:
            body = voice.completion(text, reason, prompt, count)
        return Head(200, headers(desk, len(body), JSON)), body

    return whole(desk, said, made)


def _full(desk: Desk) -> Answer:
    """A stream that finds the queue full: 200, and one event that says 503."""
    told = {"error": error_object(503, FULL, "SERVICE_UNAVAILABLE")}
    yield Head(200, headers(desk, None, SSE), CHUNKED)
    yield Send(b"data: %s\n\n" % json.dumps(told).encode(), event=True)
    yield DONE
    yield Finish("error")


def model_of(asked: Mapping[str, Any], desk: Desk) -> str:
    """The name that is asked for comes back as it stands: this engine checks none."""
    name = asked.get("model")
    return name if isinstance(name, str) else desk.script.model
