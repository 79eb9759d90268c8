"""Whether a request is tried again, and after what pause.

Theory. A try may be followed by another one when nothing of its answer was relayed and its worker
cannot have begun: it was never reached, or it said "not now" (backpressure). With `begun` also
after an error: then a request may run twice. A success and a client's own fault are never retried.

A worker is asked once for each request. The first retry goes out at once, for it goes elsewhere;
later ones wait, longer each time, with jitter. When everybody was asked, a worker that shed with a
`Retry-After` under the cap may be asked again when that time is over, never before. Where nothing
more is tried, the newest answer stands.

All retries together are held to a share of the requests under way, so that a fleet in trouble is
not asked ever more: `Budget`.

Pure: times in nanoseconds, the random draw is an argument.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from staticfire.router.outcome import Outcome

__all__ = ["Budget", "Retries", "RetrySettings", "Tried", "pause"]

W = TypeVar("W")


@dataclass(frozen=True, slots=True)
class RetrySettings:
    """`tries` counts the first one too, as other routers count; 1 never retries."""

    tries: int = 5
    initial: int = 50_000_000
    longest: int = 30_000_000_000
    multiplier: float = 1.5
    jitter: float = 0.2
    cap: int = 2_000_000_000
    """The longest `Retry-After` that is waited out while a client waits."""
    begun: bool = False
    """Whether a worker that may have begun is no reason to stop."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What one try came to. `began` is True when its worker may have begun."""

    outcome: Outcome
    began: bool
    retry_after: int | None = None


def pause(settings: RetrySettings, retry: int, draw: float) -> int:
    """How long to wait before the `retry`-th retry, counted from 1; `draw` lies in [0, 1)."""
    if retry <= 1:
        return 0
    longest = float(settings.longest)
    try:
        plain = min(settings.initial * settings.multiplier ** (retry - 2), longest)
    except OverflowError:
        plain = longest
    return round(plain * (1 + settings.jitter * (2 * draw - 1)))


Verdict = Literal["again", "final", "began", "tries"]


class Retries(Generic[W]):
    """The tries of one request: what may come next, and whom it must not ask.

    `tried` holds the workers that must not be asked now.
    """

    __slots__ = ("_free_at", "_made", "_settings", "tried")

    def __init__(self, settings: RetrySettings) -> None:
        self._settings = settings
        self._made = 0
        self._free_at: dict[W, int] = {}
        self.tried: set[W] = set()

    def told(self, worker: W, tried: Tried, now: int) -> Verdict:
        """A try came to this. `again` when another one may be made, else why not."""
        self._made += 1
        self.tried.add(worker)
        if tried.outcome in (Outcome.success, Outcome.client_error, Outcome.cancelled):
            return "final"
        if tried.outcome is Outcome.error and tried.began and not self._settings.begun:
            return "began"
        if tried.retry_after is not None and tried.outcome is Outcome.backpressure:
            self._free_at[worker] = now + tried.retry_after
        return "again" if self._made < self._settings.tries else "tries"

    def pause(self, draw: float) -> int:
        """Before a worker that was not asked yet."""
        return pause(self._settings, self._made, draw)

    def soonest(self, now: int) -> int | None:
        """How long until the first of those who shed may be asked again; None when over the cap."""
        if not self._free_at:
            return None
        wait = max(0, min(self._free_at.values()) - now)
        return wait if wait <= self._settings.cap else None

    def forgive(self, now: int) -> None:
        """Those whose `Retry-After` is over may be asked again."""
        for worker, at in tuple(self._free_at.items()):
            if at <= now:
                del self._free_at[worker]
                self.tried.discard(worker)


class Budget:
    """How many retries may be under way: a share of the live requests, and never under a floor."""

    __slots__ = ("_floor", "_share", "live", "retrying")

    def __init__(self, share: float = 0.2, floor: int = 3) -> None:
        self._share = share
        self._floor = floor
        self.live = 0
        self.retrying = 0

    def take(self) -> bool:
        """One more request retries; False when that is too many."""
        if self.retrying >= max(self._floor, self._share * self.live):
            return False
        self.retrying += 1
        return True

    def give(self) -> None:
        """A request that retried has ended."""
        self.retrying -= 1
