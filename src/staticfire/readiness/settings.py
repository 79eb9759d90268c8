"""How patient readiness is."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import isfinite

from staticfire.clock import ns
from staticfire.errors import WrongInput, did_you_mean

__all__ = ["ACCEPT_RULES", "KINDS", "Limits", "Settings"]

ACCEPT_RULES = ("answered", "proven", "strict")
KINDS = ("auto", "chat", "completion", "embeddings")


@dataclass(frozen=True, slots=True)
class Limits:
    """The times of `Settings` as integer nanoseconds, which is what the cores reckon in."""

    probe_deadline: int
    probe_budget: int
    listing_deadline: int
    look_after: int
    startup_budget: int
    throttle: int
    fresh_for: int
    interval: int
    misconfigured_after: int
    retry_after_at_most: int
    misconfigured_probes: int
    degrade_after: int
    recover_after: int
    leave_after: int
    latch_forever: bool


@dataclass(frozen=True, slots=True)
class Settings:
    """Times in seconds. The defaults are those of the readiness rules; raises WrongInput."""

    probe_deadline: float = 8.0
    """One deadline over resolve, connect, write and read of a probe."""
    probe_budget: float = 60.0
    """How far a watch moves that deadline for an engine that works on the probe: a slow first
    token is not death. No less than `probe_deadline`; a single `probe` never moves it."""
    listing_deadline: float = 2.0
    """The same for a model list or a health request."""
    look_after: float = 1.0
    """How long an answer may take before the engine's own account of itself is asked for."""
    startup_budget: float = 600.0
    """How long a process of ours may take to its first listing, counted from its last progress."""
    tick: float = 5.0
    """How often a supervisor looks at its services."""
    throttle: float = 15.0
    """From the start of a failed probe to the next one."""
    fresh_for: float = 300.0
    """How long serving evidence is good without a new probe."""
    interval: float = 1.0
    """How soon a busy engine is asked again; services use 15 s."""
    misconfigured_after: float = 15.0
    """How long a waiting path sees a refusal before it calls it misconfigured."""
    misconfigured_probes: int = 2
    """How many refusals it takes besides."""
    retry_after_at_most: float = 300.0
    """The longest `Retry-After` that is obeyed."""
    degrade_after: int = 2
    """Failed probes in a row that make a ready service degraded: one blip does not."""
    recover_after: int = 2
    """Answered probes in a row that make a degraded service ready again; each time that it
    fails again within two `fresh_for` of that it takes twice as many, up to eight times."""
    leave_after: int = 2
    """Failed listings in a row that take a worker out of rotation."""
    latch_forever: bool = False
    """Never probe again once served, whatever the age of the evidence (`--latch forever`)."""
    accept: str = "proven"
    """The accept rule of probes: answered, proven or strict."""
    kind: str = "auto"
    """Which route a probe takes: chat, completion, embeddings, or auto: by what the list says."""
    body_limit: int = 1 << 20
    """The longest reply that is read, in bytes."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool | str):
                continue
            if not isfinite(value) or value < 0 or (value == 0 and field.name in _ABOVE_ZERO):
                raise WrongInput(
                    f"readiness setting {field.name}",
                    expected="a number above zero"
                    if field.name in _ABOVE_ZERO
                    else "no less than zero",
                    found=repr(value),
                )
        for name, known in (("accept", ACCEPT_RULES), ("kind", KINDS)):
            value = getattr(self, name)
            if value not in known:
                raise WrongInput(
                    f"readiness setting {name}",
                    expected=f"one of {', '.join(known)}",
                    found=repr(value),
                    do=did_you_mean(str(value), known),
                )

    @property
    def limits(self) -> Limits:
        """These settings for the cores."""
        return Limits(
            probe_deadline=ns(self.probe_deadline),
            probe_budget=ns(max(self.probe_budget, self.probe_deadline)),
            listing_deadline=ns(self.listing_deadline),
            look_after=ns(self.look_after),
            startup_budget=ns(self.startup_budget),
            throttle=ns(self.throttle),
            fresh_for=ns(self.fresh_for),
            interval=ns(self.interval),
            misconfigured_after=ns(self.misconfigured_after),
            retry_after_at_most=ns(self.retry_after_at_most),
            misconfigured_probes=self.misconfigured_probes,
            degrade_after=self.degrade_after,
            recover_after=self.recover_after,
            leave_after=self.leave_after,
            latch_forever=self.latch_forever,
        )


_ABOVE_ZERO = frozenset(
    ("probe_deadline", "probe_budget", "listing_deadline", "look_after", "startup_budget", "tick",
     "interval", "degrade_after", "recover_after", "leave_after", "misconfigured_probes",
     "body_limit")
)  # fmt: skip
