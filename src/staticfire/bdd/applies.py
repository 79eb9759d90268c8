"""What holds in a run: the conditions that tags and expectation rows ask for."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from staticfire.bdd.tags import OF_ROUTERS, Tags

__all__ = ["NO_ROUTER", "UNSUPPORTED", "Conditions", "applicability", "unsupported"]

UNSUPPORTED = "unsupported: "
"""How the reason of a skip starts that the router itself gave."""

NO_ROUTER = "no router takes part in it"
"""Why a scenario is not for a run against another router."""


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
    example: str = ""
    """The values of an outline's example, joined by hyphens."""

    def as_row(self) -> dict[str, str]:
        """The conditions by name."""
        return {name: getattr(self, name) for name in self.__slots__}


def applicability(tags: Tags) -> Iterator[str]:
    """The tags that say where a scenario applies."""
    yield from (f"needs:{need}" for need in sorted(tags.needs - set(OF_ROUTERS)))
    yield from (f"os:{os}" for os in sorted(tags.oses))
    yield from (f"gpu:{gpu}" for gpu in sorted(tags.gpus))
    if tags.bundled:
        yield "router:bundled"


def unsupported(tags: Tags, router: str, has: Collection[str]) -> str | None:
    """Why a router says that a scenario is not for it; None when it is."""
    lacking = sorted(tags.needs & set(OF_ROUTERS) - set(has))
    if not lacking:
        return None
    return f"{UNSUPPORTED}needs {', '.join(lacking)}, which the router {router} lacks"
