"""The personality of `transformers serve` 5.17.0, true to what a real server was captured saying.

It lists every model of its cache at once and loads one for the first request that names it, which
waits for that: in a loading phase chat hangs while health and listing are 200. Nearly every mistake
of a client is a 500 in plain text. A stream has no `[DONE]`. There are no metrics. After SIGTERM no
connection is taken, and what is on its way goes on to its end.

Not there: `/v1/responses` (its capture is cut) and `/reset`.
"""

from __future__ import annotations

import json
from typing import Any

from staticfire.engine.actions import CHUNKED, Asleep, Finish, Head, Headers, Send
from staticfire.engine.ask import Ask
from staticfire.engine.framing import H11
from staticfire.engine.personalities import uvicorn
from staticfire.engine.personalities.base import Desk, Dialect, register
from staticfire.engine.personalities.prompts import letters
from staticfire.engine.personalities.talk import Answer, refused, speech, streamed, whole
from staticfire.engine.personalities.transformers_text import Voice
from staticfire.engine.personalities.uvicorn import JSON, SSE, Routes, answered, dispatch, headers

__all__ = ["Transformers"]

TEMPLATE_TOKENS = 18
"""What the captured model's chat template adds to a prompt."""
SHARDS = 21
"""Steps of the weights in the captured progress."""
TEXT = b"text/plain; charset=utf-8"
BROKEN = b"Internal Server Error"


class _Mistake(Exception):
    """A request that this server answers with its 500."""


class _Unreadable(Exception):
    """A body that FastAPI's own validation refuses."""

    def __init__(self, **detail: Any) -> None:
        super().__init__()
        self.detail = detail


@register("transformers")
class Transformers(Dialect):
    """`transformers serve` without a pinned model."""

    name = "transformers"
    manner = H11
    lazy = True

    def endpoint(self, method: str, path: str) -> str:
        return ENDPOINT.get((method, path), "other")

    def answer(self, ask: Ask, desk: Desk) -> Answer:
        try:
            return dispatch(self, ROUTES, ask, desk, _named(ask, desk))
        except _Unreadable as no:
            return _said(ask, desk, 422, _dumped({"detail": [no.detail]}))
        except _Mistake:  # raised before anything is sent, and past what adds the request's id
            return answered(500, headers(desk, len(BROKEN), TEXT), BROKEN)

    def complain(
        self, status: int, message: str | None, endpoint: str, desk: Desk
    ) -> tuple[Headers, bytes]:
        if status == 500 and message is None:
            return headers(desk, len(BROKEN), TEXT), BROKEN
        if endpoint == "health":
            body = b'{"status":"unhealthy","reason":"cb_worker_dead"}'
        else:
            told = {"detail": message if message is not None else "Service Unavailable"}
            body = json.dumps(told, separators=(",", ":")).encode()
        return headers(desk, len(body), JSON), body

    def not_http(self, desk: Desk) -> tuple[Head, bytes]:
        return uvicorn.not_http(desk, h11=True)

    # --- plain routes

    def health(self, ask: Ask, desk: Desk) -> Answer:
        return _said(ask, desk, 200, b'{"status":"ok"}')

    def models(self, ask: Ask, desk: Desk) -> Answer:
        cards = [
            {
                "owned_by": name.partition("/")[0] if "/" in name else "",
                "id": name,
                "object": "model",
                "created": desk.born,
            }
            for name in sorted(desk.script.served if desk.lists else ())
        ]
        return _said(ask, desk, 200, _dumped({"object": "list", "data": cards}))

    def load_model(self, ask: Ask, desk: Desk) -> Answer:
        """The progress of a loading, as events without a `[DONE]`."""
        asked = _parse(ask)
        voice = Voice("", 0, _model(asked, desk))
        return _progress(ask, desk, voice)

    # --- inference

    def chat(self, ask: Ask, desk: Desk) -> Answer:
        asked = _parse(ask)
        messages = asked.get("messages")
        if not isinstance(messages, list) or not messages:
            raise _Mistake
        prompt = TEMPLATE_TOKENS + letters(messages)
        return _generate(ask, desk, asked, prompt, messages, chat=True)

    def completions(self, ask: Ask, desk: Desk) -> Answer:
        asked = _parse(ask)
        if not isinstance(asked.get("prompt"), str):
            raise _Mistake
        prompt = letters(asked["prompt"])
        return _generate(ask, desk, asked, prompt, asked["prompt"], chat=False)


def _generate(
    ask: Ask, desk: Desk, asked: dict[str, Any], prompt: int, text: Any, *, chat: bool
) -> Answer:
    limit = asked.get("max_tokens")
    if limit is not None and (not isinstance(limit, int) or limit < 1):
        raise _Mistake
    if refused(desk, prompt) is not None:  # the real one has no such limit
        return _said(ask, desk, 503, b'{"detail":"Service Unavailable"}')
    own = _request_id(ask, desk)
    voice = Voice(own, desk.wall(), _model(asked, desk))
    said = speech(ask, desk, limit, prompt, text)
    if asked.get("stream") is True:
        head = Head(200, headers(desk, None, SSE, _named(ask, desk)), CHUNKED)
        make = voice.chat_lines if chat else voice.completion_lines
        return streamed(desk, head, said, make(said.reason, prompt, len(said.tokens)))

    def made(text: str, count: int, reason: str) -> tuple[Head, bytes]:
        body = (voice.chat if chat else voice.completion)(text, reason, prompt, count)
        return Head(200, headers(desk, len(body), JSON, _named(ask, desk))), body

    return whole(desk, said, made)


def _progress(ask: Ask, desk: Desk, voice: Voice) -> Answer:
    yield Head(200, headers(desk, None, SSE, _named(ask, desk)), CHUNKED)
    for stage in ("processor", "config"):
        yield Send(voice.progress(stage, 1, 1), event=True)
    yield Asleep()
    for step in range(1, SHARDS + 1):
        yield Send(voice.progress("weights", step, SHARDS), event=True)
    ready = {"status": "ready", "model": voice.model, "cached": False}
    yield Send(b"data: %s\n\n" % json.dumps(ready).encode(), event=True)
    yield Finish()


def _parse(ask: Ask) -> dict[str, Any]:
    """The request's JSON object; raises what FastAPI says of a body that is none."""
    if not ask.body:
        raise _Unreadable(type="missing", loc=["body"], msg="Field required", input=None)
    media = ask.headers.get("content-type", "").partition(";")[0].strip().lower()
    wrong = {"type": "dict_type", "loc": ["body"], "msg": "Input should be a valid dictionary"}
    if media != "application/json":
        raise _Unreadable(**wrong, input=ask.body.decode(errors="replace"))
    try:
        asked = json.loads(ask.body.decode())
    except json.JSONDecodeError as exc:
        raise _Unreadable(
            type="json_invalid", loc=["body", exc.pos], msg="JSON decode error", input={},
            ctx={"error": exc.msg},
        ) from None  # fmt: skip
    except (UnicodeDecodeError, RecursionError):
        raise _Mistake from None
    if not isinstance(asked, dict):
        raise _Unreadable(**wrong, input=asked)
    return asked


def _model(asked: dict[str, Any], desk: Desk) -> str:
    """The model that is asked for, with its revision."""
    name = asked.get("model")
    known = {own: own if "@" in own else f"{own}@main" for own in desk.script.served}
    for own, full in known.items():
        if name in (own, full):
            return full
    raise _Mistake


def _request_id(ask: Ask, desk: Desk) -> str:
    """The request's own id, or one in the form of a UUID."""
    given = ask.headers.get("x-request-id")
    if given:
        return given
    digits = desk.identity.id(ask.number) + desk.identity.id(-ask.number)
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _named(ask: Ask, desk: Desk) -> tuple[bytes, bytes]:
    return (b"x-request-id", _request_id(ask, desk).encode())


def _said(ask: Ask, desk: Desk, status: int, body: bytes) -> Answer:
    return answered(status, headers(desk, len(body), JSON, _named(ask, desk)), body)


def _dumped(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


ENDPOINT = {
    ("GET", "/health"): "health",
    ("GET", "/v1/models"): "models",
    ("POST", "/v1/chat/completions"): "chat",
    ("POST", "/v1/completions"): "completions",
}
ROUTES: Routes = {
    "/health": {"GET": Transformers.health},
    "/v1/models": {"GET": Transformers.models},
    "/load_model": {"POST": Transformers.load_model},
    "/v1/chat/completions": {"POST": Transformers.chat},
    "/v1/completions": {"POST": Transformers.completions},
}
