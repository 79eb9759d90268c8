"""The words of readiness: what one check says, and what a service is."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Source", "Status", "Verdict"]


class Verdict(StrEnum):
    """The result of one readiness check."""

    UNREACHABLE = "unreachable"
    """No connection could be made."""
    LISTING = "listing"
    """The model is named in `/v1/models`; no chat request has been answered."""
    SERVING = "serving"
    """A chat request was answered."""
    BUSY = "busy"
    """It answers, and asks to come back later: 429, 503, 408 or 425."""
    MISCONFIGURED = "misconfigured"
    """It answers, and a user's request would not be served: key, route or model are wrong."""
    BROKEN = "broken"
    """It was reached, and what came is no answer: cut, hung, no HTTP, or a 5xx other than 503."""


class Status(StrEnum):
    """What a service is, as its evidence shows it."""

    STARTING = "starting"
    """Not listed yet in this generation."""
    RUNNING = "running"
    """Up, not proven: shown as still coming up, never as failed."""
    READY = "ready"
    """It has answered chat in this generation."""
    DEGRADED = "degraded"
    """It was ready in this generation, and now fails or is paused."""
    MISCONFIGURED = "misconfigured"
    """It has been refusing what a user would send, for long enough to be told so."""
    FAILED = "failed"
    """Its process is dead, or its start-up budget ran out before it listed. Of services only."""
    RECOVERING = "recovering"
    """It is being restarted. Of services only."""
    STOPPED = "stopped"
    """It was stopped on purpose. Of services only."""


class Source(StrEnum):
    """Where evidence comes from."""

    LISTING = "listing"
    """A `GET /v1/models`."""
    CHAT = "chat"
    """A probe: one chat (or embeddings) request."""
    HEALTH = "health"
    """A `GET /health`."""
    TRAFFIC = "traffic"
    """A user's own request."""
    ACCOUNT = "account"
    """What the engine says of itself: its metrics, its sleep and pause routes."""
