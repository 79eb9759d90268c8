"""What the router says by itself: OpenAI error JSON, never a worker's URL."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from staticfire.wire import Header, Refusal

__all__ = ["Failure", "refuse"]

_CODES = {
    400: "bad_request",
    408: "request_timeout",
    413: "payload_too_large",
    414: "target_too_long",
    417: "expectation_failed",
    431: "head_too_large",
    500: "internal_error",
    501: "not_implemented",
    505: "http_version_not_supported",
}


@dataclass(frozen=True, slots=True)
class Failure:
    """One answer of the router's own; `retry_after` in whole seconds."""

    status: int
    code: str
    message: str
    param: str | None = None
    retry_after: int | None = None
    more: tuple[Header, ...] = ()
    """Other headers that belong to it."""

    @property
    def headers(self) -> tuple[Header, ...]:
        """Its headers, `x-staticfire-error` among them."""
        retry = () if self.retry_after is None else ((b"retry-after", b"%d" % self.retry_after),)
        return (
            (b"content-type", b"application/json"),
            (b"x-staticfire-error", self.code.encode()),
            *retry,
            *self.more,
        )

    @property
    def body(self) -> bytes:
        """All four keys, as OpenAI clients look for them."""
        kind = "rate_limit_error" if self.status == 429 else (
            "invalid_request_error" if self.status < 500 else "server_error"
        )  # fmt: skip
        return msgspec.json.encode(
            {
                "error": {
                    "message": self.message,
                    "type": kind,
                    "param": self.param,
                    "code": self.code,
                }
            }
        )


def refuse(refusal: Refusal) -> tuple[tuple[Header, ...], bytes]:
    """The router's words for a request that the wire refuses."""
    code = _CODES.get(refusal.status, "bad_request")
    failure = Failure(refusal.status, code, refusal.message)
    return failure.headers, failure.body
