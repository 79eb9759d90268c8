"""What is known about one service in its current generation."""

from __future__ import annotations

from dataclasses import dataclass

from staticfire.readiness.evidence import Evidence, Identity
from staticfire.readiness.verdict import Source, Status, Verdict

__all__ = ["Plan", "Record"]


@dataclass(frozen=True, slots=True)
class Record:
    """Knowledge of one service; every change is a function in `core`. Times in nanoseconds."""

    generation: int = 1
    """One life of the engine; evidence of an older one counts for nothing."""
    identity: Identity | None = None
    """The process, where it is ours."""
    status: Status = Status.STARTING
    since: int | None = None
    """When the status began."""
    began_at: int | None = None
    """When the process began or last showed progress: the start-up budget counts from here."""
    came_up: bool = False
    """The model was named once in the life of this process; no start-up budget after that."""
    exited: bool = False
    """The process is known to be dead: whoever answers on its port is somebody else."""
    told: str = ""
    """Why it is failed, recovering or stopped; empty otherwise."""
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
    hangs: int = 0
    """Probes in a row whose deadline passed without an account: the next one is given more time."""
    passes: int = 0
    fails: int = 0
    degraded: bool = False
    """Its probes failed as often in a row as it takes."""
    recovered_at: int | None = None
    relapses: int = 0
    """How often it failed again soon after it had recovered: each doubles the answers it takes."""
    paused: str = ""
    """`asleep` or `paused`, as the engine says."""
    tokens: float | None = None
    """Tokens that it had generated when a probe was last put off: does its queue move?"""
    failed_listings: int = 0
    left: bool = False
    """Its listings failed as often in a row as it takes, and none came since."""
    refusals: int = 0
    """Misconfigured evidence in a row, from one source."""
    refusing_since: int | None = None
    refusing_source: Source | None = None

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
        if self.told:
            return self.told
        last = self._deciding
        return "not checked yet" if last is None else last.reason

    @property
    def verdict(self) -> Verdict | None:
        """The verdict of the evidence that decides; None before the first check."""
        last = self._deciding
        return None if last is None else last.verdict

    @property
    def _deciding(self) -> Evidence | None:
        last = self.evidence
        if last is not None and last.source is Source.LISTING and last.named:
            return self.chat or last
        return last


@dataclass(frozen=True, slots=True)
class Plan:
    """What may be sent now. A listing always may."""

    probe: bool
    why: str
    at: int | None = None
    """When a probe may be sent next, in nanoseconds; None when none is wanted."""
    listing: bool = True
    look: bool = False
    """Ask for the engine's own account first: users may be on it."""
    patience: int = 0
    """How long to wait for the answer when the engine does not say how it fares: nanoseconds."""
