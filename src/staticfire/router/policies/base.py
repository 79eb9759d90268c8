"""What a policy is."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Collection
from dataclasses import dataclass
from random import Random
from typing import ClassVar, Generic, Protocol, TypeVar

__all__ = ["Asking", "C", "Candidate", "Lineup", "Policy", "PolicySettings"]


class Candidate(Protocol):
    """What a policy may know of a worker. Workers are told apart by identity."""

    @property
    def id(self) -> str: ...
    @property
    def place(self) -> int:
        """Its place in the order of ids; never given to another."""

    @property
    def url(self) -> str: ...
    @property
    def load(self) -> int:
        """What is under way there, as far as is known."""


class Asking(Protocol):
    """What a policy may know of a request."""

    @property
    def session(self) -> str | None: ...
    @property
    def prompt(self) -> bytes:
        """The text that an engine would cache by its beginning; empty where it is not read."""


C = TypeVar("C", bound=Candidate)


@dataclass(frozen=True, slots=True)
class PolicySettings:
    """What policies are made with. Times in nanoseconds, sizes in bytes."""

    session_idle: int = 14_400_000_000_000
    """A session that asked nothing for so long is forgotten."""
    rebalance_idle: int | None = None
    """A session that idled so long may move to a worker that has fewer; None: never."""
    load_factor: float = 1.25
    """How far over the mean a session's worker may be loaded under consistent_hash."""
    cache_threshold: float = 0.3
    """The share of a prompt that must be cached for cache_aware to go by it."""
    balance_abs: int = 64
    """cache_aware goes by load when the cached worker has so many more than the least loaded,"""
    balance_rel: float = 1.5
    """and so many times as many."""
    max_tree_size: int = 64 << 20
    """How much text the prefix tree of one model remembers."""
    seed: int | None = None
    """For choices by chance; None: different in every run."""


class Policy(Generic[C]):
    """Chooses inside one model's pool, among those who may be asked now.

    It is told who may be asked and who may not, when that changes; so nobody is filtered, and no
    list is made, for a request. Pure but for what it remembers of its own choices.
    """

    name: ClassVar[str] = ""
    tracks: ClassVar[bool] = False
    """Whether it wants to hear of every change of a load."""
    wants_session: ClassVar[bool] = False
    wants_prompt: ClassVar[bool] = False
    reads_engines: ClassVar[bool] = False
    """Whether it goes by load, so that engines are asked for theirs beside health checks."""

    def __init__(self, settings: PolicySettings | None = None) -> None:
        self.settings = settings or PolicySettings()
        self.lineup: Lineup[C] = Lineup()
        self.why = ""
        """A word for the last choice, for the metric and the client."""

    def enter(self, worker: C) -> None:
        """The worker may be asked from now on."""
        self.lineup.add(worker)

    def leave(self, worker: C) -> None:
        """It may not, for now."""
        self.lineup.remove(worker)

    def forget(self, worker: C) -> None:
        """It left the pool: what it had cached is gone."""

    def loaded(self, worker: C, by: int) -> None:
        """The load of a worker in the lineup changed."""

    def choose(self, asked: Asking, tried: Collection[object], now: int) -> C | None:
        """One who may be asked and who is not in `tried`; None when there is none.

        `now` is in nanoseconds.
        """
        raise NotImplementedError


class Lineup(Generic[C]):
    """Those who may be asked, in the order of their places."""

    __slots__ = ("places", "workers")

    def __init__(self) -> None:
        self.workers: list[C] = []
        self.places: list[int] = []

    def __len__(self) -> int:
        return len(self.workers)

    def __contains__(self, worker: C) -> bool:
        at = bisect_left(self.places, worker.place)
        return at < len(self.places) and self.places[at] == worker.place

    def add(self, worker: C) -> None:
        """Take a worker in at its place."""
        insort(self.places, worker.place)
        self.workers.insert(bisect_left(self.places, worker.place), worker)

    def remove(self, worker: C) -> None:
        """Let a worker out."""
        at = bisect_left(self.places, worker.place)
        del self.places[at], self.workers[at]

    def pick(self, chance: Random, tried: Collection[object]) -> C | None:
        """One by chance, each as likely as the next as long as few were tried."""
        workers = self.workers
        count = len(workers)
        if not count:
            return None
        for _ in range(4):
            worker = workers[int(chance.random() * count)]
            if worker not in tried:
                return worker
        return self.after(int(chance.random() * count), tried)

    def after(self, at: int, tried: Collection[object]) -> C | None:
        """The first from an index on, round the end, that was not tried."""
        workers = self.workers
        count = len(workers)
        for step in range(count):
            worker = workers[(at + step) % count]
            if worker not in tried:
                return worker
        return None
