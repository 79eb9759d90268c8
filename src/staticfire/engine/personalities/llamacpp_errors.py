"""What llama.cpp's server says when it refuses a request, from the captures."""

from __future__ import annotations

import json
from typing import Any

__all__ = [
    "LOADING",
    "NOT_FOUND",
    "Refusal",
    "error",
    "integer",
    "parse",
    "standard",
    "wrong_type",
]

TYPES = {
    400: "invalid_request_error", 401: "authentication_error", 403: "permission_error",
    404: "not_found_error", 500: "server_error", 501: "not_supported_error",
    503: "unavailable_error",
}  # fmt: skip
EMPTY = (
    "attempting to parse an empty input; check that your input string or stream contains the "
    "expected JSON"
)
MOST = 2147483647


class Refusal(Exception):
    """A request that is answered with an error object; `more` are fields of that object."""

    def __init__(self, status: int, message: str, kind: str = "", **more: int) -> None:
        super().__init__()
        self.status, self.message, self.more = status, message, more
        self.kind = kind or TYPES.get(status, "server_error")


def error(status: int, message: str, kind: str, **more: int) -> bytes:
    """The error object of a handler: code, message, type."""
    told = {"error": {"code": status, "message": message, "type": kind, **more}}
    return json.dumps(told, separators=(",", ":"), ensure_ascii=False).encode()


def standard(status: int, message: str | None) -> bytes:
    """The error object of the middleware, which has another key order than a handler's."""
    kind = TYPES.get(status, "server_error")
    known = {401: "Invalid API Key", 404: "File Not Found", 503: "Loading model"}
    text = message if message is not None else known.get(status, "Internal Server Error")
    told = {"error": {"message": text, "type": kind, "code": status}}
    return json.dumps(told, separators=(",", ":"), ensure_ascii=False).encode()


LOADING, NOT_FOUND = standard(503, None), standard(404, None)


def parse(body: bytes, status: int) -> dict[str, Any]:
    """The request's JSON object; `status` is this build's for bytes that are no JSON.

    A value that is no object has none of the fields that are asked for.
    """
    try:
        asked = json.loads(body.decode())
    except json.JSONDecodeError as exc:
        raise _no_json(body.decode(), exc, status) from None
    except (UnicodeDecodeError, RecursionError):
        where = "parse error at line 1, column 1: syntax error while parsing value"
        raise _json_error(f"{where} - invalid literal", status) from None
    return asked if isinstance(asked, dict) else {}


def _no_json(text: str, exc: json.JSONDecodeError, status: int) -> Refusal:
    where = f"parse error at line {exc.lineno}, column "
    if not text.strip():
        return _json_error(f"{where}1: {EMPTY}", status)
    over = exc.pos >= len(text)
    column = len(text) + 1 if over else exc.colno
    if exc.msg == "Extra data":
        why = f"value - unexpected '{text[exc.pos]}'; expected end of input"
    elif exc.msg == "Expecting value":
        rest = text[exc.pos :]
        why = (
            "value - unexpected end of input; expected '[', '{', or a literal"
            if over
            else f"value - invalid literal; last read: '{rest}'"
        )
        column = column if over else len(text) + 1
    else:
        met = "end of input" if over else f"'{text[exc.pos]}'"
        why = f"object - unexpected {met}; expected '}}'"
    return _json_error(f"{where}{column}: syntax error while parsing {why}", status)


def _json_error(text: str, status: int) -> Refusal:
    return Refusal(status, f"[json.exception.parse_error.101] {text}")


def integer(asked: dict[str, Any], name: str) -> int | None:
    """A whole number of at least -1; None when it is missing, null or -1."""
    value = asked.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise wrong_type(name, "number", value)
    if not -1 <= value <= MOST:
        raise Refusal(
            400, f"Field '{name}': Value must be between -1 <= value <= {MOST}, but got {value}"
        )
    return None if value == -1 else int(value)


def wrong_type(name: str, wanted: str, value: object) -> Refusal:
    """A field of the wrong kind."""
    kinds = {str: "string", bool: "boolean", list: "array", dict: "object"}
    kind = kinds.get(type(value), "number")
    text = f"type must be {wanted}, but is {kind}"
    return Refusal(400, f"Field '{name}': [json.exception.type_error.302] {text}")
