"""What SGLang 0.5.23 says when it refuses a request, from its source."""

from __future__ import annotations

import json
from typing import Any

from staticfire.engine.ask import Ask

__all__ = ["FULL", "Refusal", "dumped", "error", "error_object", "invalid", "missing", "parse"]

FULL = "The request queue is full."


class Refusal(Exception):
    """A request that is answered with an error object."""

    def __init__(self, status: int, message: str, kind: str) -> None:
        super().__init__()
        self.status, self.body = status, error(status, message, kind)


def parse(ask: Ask) -> dict[str, Any]:
    """The request's JSON object; raises `Refusal` with what FastAPI's validation says."""
    try:
        asked = json.loads(ask.body.decode())
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as exc:
        place = exc.pos if isinstance(exc, json.JSONDecodeError) else 0
        why = exc.msg if isinstance(exc, json.JSONDecodeError) else "Invalid text"
        told = [
            {
                "type": "json_invalid", "loc": ("body", place), "msg": "JSON decode error",
                "input": {}, "ctx": {"error": why},
            }
        ]  # fmt: skip
        raise Refusal(400, str(told), "Bad Request") from None
    if not isinstance(asked, dict):
        told = [
            {
                "type": "model_attributes_type", "loc": ("body",),
                "msg": "Input should be a valid dictionary or object to extract fields from",
                "input": asked,
            }
        ]  # fmt: skip
        raise Refusal(400, str(told), "Bad Request")
    return asked


def missing(name: str) -> str:
    """What it says of a field that is not there."""
    return str([{"type": "missing", "loc": ("body", name), "msg": "Field required", "input": {}}])


def invalid(name: str, text: str, kind: str, given: object) -> str:
    """What it says of a field of the wrong kind."""
    return str([{"type": kind, "loc": ("body", name), "msg": text, "input": given}])


def error_object(status: int, message: str, kind: str) -> dict[str, Any]:
    """An error as this engine writes it: flat."""
    return {"object": "error", "message": message, "type": kind, "param": None, "code": status}


def error(status: int, message: str, kind: str) -> bytes:
    """The same as a body."""
    return dumped(error_object(status, message, kind))


def dumped(value: Any) -> bytes:
    """JSON without spaces."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
