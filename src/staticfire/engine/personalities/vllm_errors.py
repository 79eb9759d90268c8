"""What vLLM 0.32.0 says when it refuses a request, from the captures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from staticfire.engine.framing import REASONS

__all__ = [
    "BACKLOG",
    "BUSY",
    "CORE_DEAD",
    "Refusal",
    "body_of",
    "parse",
    "refuse_semantics",
    "standard",
]

BUSY = (
    "The engine is currently busy and cannot accept new requests. "
    "Please try again later or on a different instance."
)
BACKLOG = (
    "The engine is currently busy and cannot accept new requests: the prefill token backlog limit "
    "is reached. Please try again later or on a different instance."
)
"""Of the second limit only its middle is known, from the source."""
CORE_DEAD = "EngineCore encountered an issue. See stack trace (above) for the root cause."
TYPES = {400: "BadRequestError", 404: "NotFoundError", 500: "InternalServerError"}


class Refusal(Exception):
    """A request that is answered with an OpenAI error object."""

    def __init__(self, status: int, message: str, kind: str, param: str | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.kind, self.param = status, message, kind, param


def body_of(status: int, message: str, kind: str, param: str | None = None) -> bytes:
    """The error object, in vLLM's key order."""
    error = {"message": message, "type": kind, "param": param, "code": status}
    return json.dumps({"error": error}, separators=(",", ":"), ensure_ascii=False).encode()


def standard(status: int, message: str | None) -> bytes:
    """The body that this engine would send with a status, when a script asks for it."""
    phrase = REASONS.get(status, b"Error").decode()
    known = {503: BUSY, 500: CORE_DEAD}
    text = message if message is not None else known.get(status, phrase)
    return body_of(status, text, TYPES.get(status, phrase))


def _invalid(kind: str, where: str, text: str, given: str, context: str = "") -> Refusal:
    """A validation error: vLLM prints one Python dict a line."""
    extra = f", 'ctx': {{'error': '{context}'}}" if context else ""
    line = f"{{'type': '{kind}', 'loc': '{where}', 'msg': '{text}', 'input': {given!r}{extra}}}"
    return Refusal(400, f"1 validation error:\n  {line}", "Bad Request", where)


def _read(body: bytes) -> Any:
    """The JSON value, read fast; what that reader refuses is for the standard one to judge."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return json.loads(body.decode())


def _media(content_type: str | None) -> str:
    return (content_type or "").partition(";")[0].strip().lower()


def parse(content_type: str | None, body: bytes, needs: str) -> dict[str, Any]:
    """The request's JSON object; raises `Refusal` where vLLM's validation does.

    `needs` is the required field: messages for chat, prompt for completions, input for embeddings.
    """
    if body and content_type != "application/json" and _media(content_type) != "application/json":
        raise Refusal(
            400,
            "1 validation error:\n  Unsupported Media Type: Only 'application/json' is allowed",
            "Bad Request",
        )
    if not body:
        raise _invalid("missing", "body", "Field required", "None")
    try:
        ask = _read(body)
    except json.JSONDecodeError as exc:
        raise _invalid(
            "json_invalid", f"body.{exc.pos}", "JSON decode error", "<dict of 0 items>", exc.msg
        ) from None
    except (UnicodeDecodeError, RecursionError):
        raise _invalid("json_invalid", "body.0", "JSON decode error", "<dict of 0 items>") from None
    if not isinstance(ask, dict):
        raise _invalid(
            "model_attributes_type", "body", "Input should be a valid dictionary", str(ask)
        )
    if needs not in ask:
        given = f"<dict of {len(ask)} items>"
        raise _invalid("missing", f"body.{needs}", "Field required", given)
    if needs == "messages" and not isinstance(ask["messages"], list):
        given = str(ask["messages"])
        raise _invalid("list_type", "body.messages", "Input should be a valid list", given)
    for name in ("max_tokens", "max_completion_tokens"):
        value = ask.get(name)
        if isinstance(value, str):
            raise _invalid(
                "int_parsing",
                f"body.{name}",
                "Input should be a valid integer, unable to parse string as an integer",
                value,
            )
        if value is not None and not isinstance(value, int):
            raise _invalid(
                "int_type", f"body.{name}", "Input should be a valid integer", str(value)
            )
    return ask


def refuse_semantics(ask: Mapping[str, Any], prompt_tokens: int, limit: int) -> None:
    """Raise `Refusal` for a request that is well formed and cannot be served."""
    if ask.get("messages") == []:
        raise Refusal(
            400,
            "Cannot apply chat template to an empty conversation. Provide at least one message.",
            "BadRequestError",
        )
    if prompt_tokens > limit:
        over = limit + 1
        raise Refusal(
            400,
            f"This model's maximum context length is {limit} tokens. However, your prompt contains "
            f"at least {over} input tokens, which exceeds this limit even without any output "
            "tokens. Please reduce the length of the input prompt. "
            f"(parameter=input_tokens, value={over})",
            "BadRequestError",
            "input_tokens",
        )
    for name in ("max_completion_tokens", "max_tokens"):
        value = ask.get(name)
        if value is not None and value < 1:
            raise Refusal(
                400,
                f"max_tokens must be at least 1, got {value}. "
                f"(parameter=max_tokens, value={value})",
                "BadRequestError",
                "max_tokens",
            )
    temperature = ask.get("temperature")
    if isinstance(temperature, (int, float)) and not 0 <= temperature <= 2:
        heat = float(temperature)
        raise Refusal(
            400,
            f"temperature must be in [0, 2], got {heat}. (parameter=temperature, value={heat})",
            "BadRequestError",
            "temperature",
        )
    n = ask.get("n")
    if temperature == 0 and isinstance(n, int) and n > 1:
        raise Refusal(400, f"n must be 1 when using greedy sampling, got {n}.", "BadRequestError")
