"""What is known about one service in its current generation."""

from __future__ import annotations

from dataclasses import dataclass

from staticfire.readiness.evidence import Evidence
from staticfire.readiness.verdict import Source, Status

__all__ = ["Plan", "Record"]


@dataclass(frozen=True, slots=True)
class Record:
    """Knowledge of one service; every change is a function in `core`. Times in nanoseconds."""

    generation: int = 1
    """One life of the engine; evidence of an older one counts for nothing."""
    status: Status = Status.STARTING
    since: int | None = None
    """When the status began."""
    evidence: Evidence | None = None
    """The last evidence."""
    chat: Evidence | None = None
    """The last evidence of a probe in this generation."""
    models: tuple[str, ...] = ()
    """What the engine listed last; kept over a restart, so that nobody is forgotten."""
    routable: bool = False
    """In rotation: proven, and its listings have not failed twice in a row."""
    reached: bool = False
    """Something answered in this generation."""
    listed: bool = False
    """The model was named in this generation."""
    named: bool = False
    """The last model list named the model; a probe goes only to one that did."""
    served_at: int | None = None
    """The latch: the last serving evidence of this generation."""
    served_model: str | None = None
    attempt_at: int | None = None
    """When the last probe was begun; written down before the request is sent."""
    next_probe: int | None = None
    """No probe before this."""
    passes: int = 0
    fails: int = 0
    degraded: bool = False
    failed_listings: int = 0
    refusals: int = 0
    """Misconfigured evidence in a row, from one source."""
    refusing_since: int | None = None
    refusing_source: Source | None = None
    misconfigured: bool = False

    @property
    def latched(self) -> bool:
        """True when this generation has served."""
        return self.served_at is not None

    @property
    def ready(self) -> bool:
        """True when a request sent now would be answered, as far as the evidence says."""
        return self.status is Status.READY

    @property
    def reason(self) -> str:
        """Why it is what it is: of a model that is listed, what its chat said last."""
        last = self.evidence
        if last is None:
            return "not checked yet"
        if last.source is Source.LISTING and last.named and self.chat is not None:
            return self.chat.reason
        return last.reason


@dataclass(frozen=True, slots=True)
class Plan:
    """What may be sent now. A listing always may."""

    probe: bool
    why: str
    at: int | None = None
    """When a probe may be sent next, in nanoseconds; None when none is wanted."""
    listing: bool = True
