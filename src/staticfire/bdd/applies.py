"""What holds in a run: the conditions that tags and expectation rows ask for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from staticfire.bdd.tags import Tags

__all__ = ["Conditions", "applicability"]


@dataclass(frozen=True, slots=True)
class Conditions:
    """What holds for one test; the keys that an expectation row's `when` may name."""

    lane: str
    engine: str
    personality: str
    router: str
    clock: str
    os: str
    gpu: str

    def as_row(self) -> dict[str, str]:
        """The conditions by name."""
        return {name: getattr(self, name) for name in self.__slots__}


def applicability(tags: Tags) -> Iterator[str]:
    """The tags that say where a scenario applies."""
    yield from (f"needs:{need}" for need in sorted(tags.needs))
    yield from (f"os:{os}" for os in sorted(tags.oses))
    yield from (f"gpu:{gpu}" for gpu in sorted(tags.gpus))
    if tags.bundled:
        yield "router:bundled"
