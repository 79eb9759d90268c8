"""The inference answers of vLLM 0.32.0, as actions."""

from __future__ import annotations

import json
from typing import Any

from staticfire.engine.actions import CHUNKED, Head, Headers, Send
from staticfire.engine.ask import Ask
from staticfire.engine.personalities import uvicorn
from staticfire.engine.personalities.base import Desk
from staticfire.engine.personalities.prompts import letters
from staticfire.engine.personalities.talk import (
    DONE,
    Answer,
    Lines,
    embedded,
    refused,
    speech,
    streamed,
    vectors,
    whole,
)
from staticfire.engine.personalities.uvicorn import JSON, SSE
from staticfire.engine.personalities.vllm_errors import BACKLOG, BUSY, Refusal, refuse_semantics
from staticfire.engine.personalities.vllm_text import Voice

__all__ = ["VERSION", "embed", "generate", "headers_of", "json_answer"]

VERSION = "0.32.0"
VARY = (b"vary", b"Origin")


def json_answer(desk: Desk, status: int, body: bytes, kind: bytes = JSON) -> Answer:
    """An answer of known length."""
    return uvicorn.answered(status, headers_of(desk, len(body), kind), body)


def headers_of(desk: Desk, length: int | None, kind: bytes | None) -> Headers:
    """VLLM's head."""
    return uvicorn.headers(desk, length, kind, VARY)


def generate(
    ask: Ask, desk: Desk, body: dict[str, Any], prompt: int, asked: Any, kind: str
) -> Answer:
    """A chat or text completion, whole or streamed; raises `Refusal` before anything is sent."""
    model = _model(body, desk)
    refuse_semantics(body, prompt, desk.script.max_model_len)
    if desk.slots.bounded and (full := refused(desk, prompt)) is not None:
        raise Refusal(503, BUSY if full == "requests" else BACKLOG, "Service Unavailable")
    limit = body.get("max_completion_tokens") or body.get("max_tokens")
    said = speech(ask, desk, limit, prompt, asked)
    voice = Voice(
        desk.identity.id(ask.number),
        desk.wall(),
        model,
        f"vllm-{VERSION}-{desk.identity.run}",
        _transfer(body, desk, ask) if "kv_transfer_params" in body else "null",
    )
    if body.get("stream") is True:
        options = body.get("stream_options")
        usage = isinstance(options, dict) and options.get("include_usage") is True
        head = Head(200, headers_of(desk, None, SSE), CHUNKED)
        make = _chat_lines if kind == "chat" else _completion_lines
        return streamed(desk, head, said, make(voice, said.reason, prompt, len(said.tokens), usage))
    choices = body.get("n") if isinstance(body.get("n"), int) else 1

    def made(text: str, count: int, reason: str) -> tuple[Head, bytes]:
        if kind == "chat":
            answer = voice.chat([text] * (choices or 1), reason, prompt, count * (choices or 1))
        else:
            answer = voice.completion(text, reason, prompt, count)
        return Head(200, uvicorn.headers(desk, len(answer), JSON, VARY)), answer

    return whole(desk, said, made)


def embed(ask: Ask, desk: Desk, body: dict[str, Any]) -> Answer:
    """A list of embeddings; raises `Refusal` before anything is sent."""
    model, given = _model(body, desk), body["input"]
    voice = Voice(desk.identity.id(ask.number), desk.wall(), model, "")
    answer = voice.embeddings(vectors(desk, given), letters(given))
    return embedded(desk, given, json_answer(desk, 200, answer))


def _chat_lines(voice: Voice, reason: str, prompt: int, count: int, usage: bool) -> Lines:
    """One event a token; the last one carries the finish reason.

    With a usage event the fingerprint moves there from the last token (seen in the capture).
    """
    start = voice.chat_start()
    last = b'},"logprobs":null,"finish_reason":"%s","stop_reason":null,"token_ids":null'
    return Lines(
        (Send(start + _ROLE, event=True),),
        start + b'{"index":0,"delta":{"content":',
        _CHAT_NEXT,
        _closing(voice, start, prompt, count, usage),
        last % reason.encode() + (b"}]}\n\n" if usage else voice.last()),
        cut=(DONE,),
    )


def _completion_lines(voice: Voice, reason: str, prompt: int, count: int, usage: bool) -> Lines:
    start = voice.completion_start()
    last = (
        b',"logprobs":null,"finish_reason":"%s","stop_reason":null,'
        b'"prompt_token_ids":null,"token_ids":null'
    )
    return Lines(
        (),
        start + b'{"index":0,"text":',
        _COMPLETION_NEXT,
        _closing(voice, start, prompt, count, usage),
        last % reason.encode() + (b"}]}\n\n" if usage else voice.last()),
        cut=(DONE,),
    )


def _closing(voice: Voice, start: bytes, prompt: int, count: int, usage: bool) -> tuple[Send, ...]:
    if not usage:
        return (DONE,)
    return (Send(voice.usage_event(start, prompt, count), event=True), DONE)


_ROLE = (
    b'{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],'
    b'"prompt_token_ids":null,"prompt_text":null}\n\n'
)
_CHAT_NEXT = b'},"logprobs":null,"finish_reason":null,"token_ids":null}]}\n\n'
_COMPLETION_NEXT = (
    b',"logprobs":null,"finish_reason":null,"stop_reason":null,"prompt_token_ids":null,'
    b'"token_ids":null}]}\n\n'
)


def _transfer(body: dict[str, Any], desk: Desk, ask: Ask) -> str:
    """What a prefill leg tells the decode leg; `null` for any other request.

    The fields are those of the NIXL connector: who holds the blocks, and which.
    """
    asked = body.get("kv_transfer_params")
    if not (isinstance(asked, dict) and asked.get("do_remote_decode") is True):
        return "null"
    size = desk.script.capacity.block_size
    told = {
        "do_remote_prefill": True,
        "do_remote_decode": False,
        "remote_block_ids": [list(range(1, 2 + letters(body.get("messages")) // size))],
        "remote_engine_id": f"{desk.identity.name}-{desk.identity.run}",
        "remote_request_id": f"chatcmpl-{desk.identity.id(ask.number)}",
        "remote_host": "127.0.0.1",
        "remote_port": 5600,
        "tp_size": 1,
    }
    return json.dumps(told, separators=(",", ":"))


def _model(body: dict[str, Any], desk: Desk) -> str:
    """The model that is asked for; the first one when none is named."""
    asked = body.get("model")
    if asked is None:
        return desk.script.model
    if asked not in desk.script.served:
        aliases = ", ".join(desk.script.served)
        raise Refusal(
            404,
            f"The model `{asked}` does not exist. Valid aliases: {aliases}.",
            "NotFoundError",
            "model",
        )
    return str(asked)
