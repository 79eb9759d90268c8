"""One request as personalities and faults see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from staticfire.engine.actions import Headers

__all__ = ["ENDPOINTS", "INFERENCE", "Ask", "Complaint"]

INFERENCE = ("chat", "completions", "embeddings")
ENDPOINTS = {
    "health": "GET /health",
    "models": "GET /v1/models",
    "chat": "POST /v1/chat/completions",
    "completions": "POST /v1/completions",
    "embeddings": "POST /v1/embeddings",
}
"""Short names for what is scripted apart; any other rule names its method and path."""

Complaint = Callable[[int, str | None], tuple[Headers, bytes]]
"""Makes the head and body of an error in the engine's own dialect from a status and a message."""


class Ask(NamedTuple):
    """A request that has arrived whole.

    `number` counts the requests of one engine from 1; `endpoint` is one of `ENDPOINTS` or `other`;
    `complain` speaks the engine's dialect, so that a fault needs to know no personality.
    """

    number: int
    method: str
    path: str
    endpoint: str
    query: str
    headers: Mapping[str, str]
    body: bytes
    complain: Complaint
