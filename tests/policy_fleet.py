"""Workers and requests as policies see them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(eq=False)
class Spot:
    """A worker."""

    place: int
    load: int = 0

    @property
    def id(self):
        return f"w{self.place:02}"

    @property
    def url(self):
        return f"http://10.0.0.{self.place}:8000"


@dataclass
class Ask:
    """A request."""

    session: str | None = None
    prompt: bytes = b""


ASKED = Ask()


def fleet(n, *loads):
    """Workers w00, w01 …, idle or with the loads given."""
    return [Spot(place, loads[place] if place < len(loads) else 0) for place in range(n)]


def enter(policy, workers):
    """The policy, told that these may be asked."""
    for worker in workers:
        policy.enter(worker)
    return policy


def give(policy, asked=ASKED, tried=(), now=0):
    """One request given to a worker and not given back: its load counts."""
    worker = policy.choose(asked, tried, now)
    worker.load += 1
    if policy.tracks:
        policy.loaded(worker, 1)
    return worker


def take(policy, worker):
    """One request given back."""
    worker.load -= 1
    if policy.tracks:
        policy.loaded(worker, -1)
