"""No router: the baseline, in which clients ask the engine itself.

What fails here too is the engine's, or ours: no router can be blamed for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from staticfire.stand.routers.flags import Unsupported

__all__ = ["HAS", "NAME", "Direct"]

NAME = "direct"

HAS = frozenset({"request-ids"})
"""Of what a router may have, what there is without one."""


class Direct:
    """Stands where a router would; its address is the only engine's."""

    readiness = "/health"
    """Where an engine says whether it is ready; every personality has it."""

    def __init__(self, workers: Sequence[str], settings: Mapping[str, Any]) -> None:
        if len(workers) != 1:
            raise Unsupported("without a router there is one engine")
        if settings:
            raise Unsupported("there is no router to be set")
        self.url = workers[0]

    async def start(self) -> None:
        """Nothing is started."""

    async def stop(self) -> None:
        """The engine stops by itself."""
