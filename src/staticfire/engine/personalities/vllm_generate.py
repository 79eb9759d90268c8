"""The inference answers of vLLM 0.32.0, as actions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from staticfire.clock import ns
from staticfire.engine.actions import (
    CHUNKED,
    LENGTH,
    Action,
    Admit,
    Asleep,
    Finish,
    Head,
    Headers,
    Send,
    Wait,
)
from staticfire.engine.ask import Ask
from staticfire.engine.identity import mix
from staticfire.engine.personalities.base import Desk
from staticfire.engine.personalities.vllm_errors import BUSY, Refusal, refuse_semantics
from staticfire.engine.personalities.vllm_text import Voice, quote

__all__ = ["VERSION", "Answer", "embed", "generate", "headers_of", "json_answer", "letters"]

VERSION = "0.32.0"
ASLEEP = Asleep()
DONE = Send(b"data: [DONE]\n\n", event=True)
JSON = b"application/json"

Answer = Iterator[Action]


def json_answer(
    desk: Desk, status: int, body: bytes, kind: bytes = JSON, allow: str = ""
) -> Answer:
    yield Head(status, headers_of(desk, len(body), kind, allow), LENGTH)
    if body:
        yield Send(body)
    yield Finish()


def headers_of(desk: Desk, length: int | None, kind: bytes | None, allow: str = "") -> Headers:
    pairs = [(b"date", desk.date()), (b"server", b"uvicorn")]
    if allow:
        pairs.append((b"allow", allow.encode()))
    if length is not None:
        pairs.append((b"content-length", b"%d" % length))
    if kind is not None:
        pairs.append((b"content-type", kind))
    pairs.append((b"vary", b"Origin"))
    pairs.append((b"x-engine", desk.identity.name.encode()))
    return tuple(pairs)


def generate(ask: Ask, desk: Desk, body: dict[str, Any], prompt: int, kind: str) -> Answer:
    """A chat or text completion, whole or streamed; raises `Refusal` before anything is sent."""
    model = _model(body, desk)
    refuse_semantics(body, prompt, desk.script.max_model_len)
    if desk.slots.full:
        desk.stats.shed += 1
        raise Refusal(503, BUSY, "Service Unavailable")
    limit = body.get("max_completion_tokens") or body.get("max_tokens")
    length = desk.script.tokens
    said = length if limit is None else min(length, int(limit))
    stops = limit is None or limit > length
    tokens = desk.identity.tokens(ask.number, said)
    voice = Voice(
        desk.identity.id(ask.number),
        desk.wall(),
        model,
        f"vllm-{VERSION}-{desk.identity.run}",
    )
    reason = "stop" if stops else "length"
    if body.get("stream") is True:
        options = body.get("stream_options")
        usage = isinstance(options, dict) and options.get("include_usage") is True
        return _stream(desk, voice, tokens, reason, prompt, kind, usage=usage)
    choices = body.get("n") if isinstance(body.get("n"), int) else 1
    return _whole(desk, voice, tokens, reason, prompt, kind, choices or 1)


def embed(ask: Ask, desk: Desk, body: dict[str, Any]) -> Answer:
    """A list of embeddings; raises `Refusal` before anything is sent."""
    model = _model(body, desk)
    given = body["input"]
    texts = given if isinstance(given, list) and given else [given]
    prompt = sum(map(letters, texts))
    voice = Voice(desk.identity.id(ask.number), desk.wall(), model, "")
    vectors = [
        [(mix(desk.identity.bits ^ _sum(text) ^ i) % 2001 - 1000) / 1000 for i in range(8)]
        for text in texts
    ]
    return _embedded(desk, voice, vectors, prompt)


def _embedded(desk: Desk, voice: Voice, vectors: list[list[float]], prompt: int) -> Answer:
    yield ASLEEP
    yield Admit(prompt)
    if desk.script.capacity.first_token:
        yield Wait(ns(desk.script.capacity.first_token))
    yield from json_answer(desk, 200, voice.embeddings(vectors, prompt))


def _whole(
    desk: Desk, voice: Voice, tokens: list[str], reason: str, prompt: int, kind: str, choices: int
) -> Answer:
    yield ASLEEP
    yield Admit(prompt)
    speed = desk.script.capacity
    pause = ns(speed.first_token) + ns(speed.per_token) * (len(tokens) - 1)
    if pause:
        yield Wait(pause)
    text, said = "".join(tokens), len(tokens)
    if kind == "chat":
        body = voice.chat([text] * choices, reason, prompt, said * choices)
    else:
        body = voice.completion(text, reason, prompt, said)
    yield Head(200, headers_of(desk, len(body), JSON), LENGTH)
    yield Send(body, tokens=said)
    yield Finish(reason)


def _stream(
    desk: Desk, voice: Voice, tokens: list[str], reason: str, prompt: int, kind: str, *, usage: bool
) -> Answer:
    """The head at once, then one event a token; the last one carries the finish reason.

    With a usage event the fingerprint moves there from the last token (seen in the capture).
    """
    yield Head(200, headers_of(desk, None, b"text/event-stream; charset=utf-8"), CHUNKED)
    yield ASLEEP
    yield Admit(prompt)
    speed = desk.script.capacity
    if speed.first_token:
        yield Wait(ns(speed.first_token))
    if kind == "chat":
        start = voice.chat_start()
        yield Send(start + _ROLE, event=True)
        before, after = start + b'{"index":0,"delta":{"content":', _CHAT_NEXT
        last = b'},"logprobs":null,"finish_reason":"%s","stop_reason":null,"token_ids":null'
    else:
        start = voice.completion_start()
        before, after = start + b'{"index":0,"text":', _COMPLETION_NEXT
        last = (
            b',"logprobs":null,"finish_reason":"%s","stop_reason":null,'
            b'"prompt_token_ids":null,"token_ids":null'
        )
    gap = ns(speed.per_token)
    final = len(tokens) - 1
    for index, token in enumerate(tokens):
        if gap and index:
            yield Wait(gap)
        said = before + quote(token).encode()
        if index < final:
            yield Send(said + after, event=True, tokens=1)
        else:
            end = b"}]}\n\n" if usage else voice.last()
            yield Send(said + last % reason.encode() + end, event=True, tokens=1)
    if usage:
        yield Send(voice.usage_event(start, prompt, len(tokens)), event=True)
    yield DONE
    yield Finish(reason)


_ROLE = (
    b'{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],'
    b'"prompt_token_ids":null,"prompt_text":null}\n\n'
)
_CHAT_NEXT = b'},"logprobs":null,"finish_reason":null,"token_ids":null}]}\n\n'
_COMPLETION_NEXT = (
    b',"logprobs":null,"finish_reason":null,"stop_reason":null,"prompt_token_ids":null,'
    b'"token_ids":null}]}\n\n'
)


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


def letters(text: object) -> int:
    """Prompt tokens: a letter each, in messages, their parts and plain text."""
    if isinstance(text, str):
        return len(text)
    if isinstance(text, dict):
        content = text.get("content", text.get("text"))
        return letters(content)
    if isinstance(text, list):
        return sum(map(letters, text))
    return 1 if isinstance(text, int) else 0


def _sum(text: object) -> int:
    return sum(str(text).encode()) << 16
