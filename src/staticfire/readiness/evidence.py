"""Evidence: a verdict with when, which generation, why."""

from __future__ import annotations

from dataclasses import dataclass

from staticfire.readiness.verdict import Source, Verdict

__all__ = ["Evidence"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one check found.

    `at` is when the check ended, `began` when it started, `retry_after` how long the engine asked
    to be left alone: nanoseconds. `reason` is one sentence without a URL.
    """

    verdict: Verdict
    at: int
    generation: int = 1
    reason: str = ""
    retry_after: int | None = None
    models: tuple[str, ...] = ()
    """The ids that a whole model list named."""
    source: Source = Source.CHAT
    began: int | None = None
    refused: bool = False
    """The connection was refused: the life that earlier evidence spoke of is over."""
    named: bool | None = None
    """Whether a whole model list named the model; None when no whole list was read."""
    model: str | None = None
    """The id that the check was about."""
    status: int | None = None
    """The HTTP status that decided, when one did."""

    @property
    def started(self) -> int:
        """When the check started, in nanoseconds."""
        return self.at if self.began is None else self.began
