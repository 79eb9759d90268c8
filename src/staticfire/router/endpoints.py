"""What the router answers about itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from staticfire.clock import current
from staticfire.router.metrics import CONTENT_TYPE, Metrics
from staticfire.router.registry import Registry
from staticfire.wire import Answer

__all__ = ["Endpoints"]

_JSON = ((b"content-type", b"application/json"),)


class Endpoints:
    """GET endpoints by path. They name workers w00, w01 …, never by URL."""

    def __init__(self, registry: Registry, metrics: Metrics) -> None:
        self._registry = registry
        self._metrics = metrics
        self._created = int(current().wall())
        self.draining = False
        self.table: dict[bytes, Callable[[Answer], Awaitable[None] | None]] = {
            b"/health": self.health,
            b"/liveness": self.health,
            b"/readiness": self.readiness,
            b"/v1/models": self.models,
            b"/metrics": self.metrics,
        }

    def health(self, answer: Answer) -> None:
        """200 while the process answers."""
        _json(answer, 200, {"status": "ok"})

    def readiness(self, answer: Answer) -> None:
        """200 once a worker serves, of legs one of each; else 503 with each worker's reason.

        Breakers do not count: a resting worker must not take the router out of its service.
        """
        registry = self._registry
        serving = len(registry.serving())
        ready = bool(registry.served_models()) and not self.draining
        shown: dict[str, object] = {
            "status": "ready" if ready else "not ready",
            "healthy_workers": serving,
            "total_workers": len(registry.workers),
        }
        if not ready:
            shown["reason"] = "the router drains" if self.draining else _why(registry)
            shown["workers"] = {worker.id: worker.reason for worker in registry.workers}
        _json(answer, 200 if ready else 503, shown)

    def models(self, answer: Answer) -> None:
        """The models that somebody serves."""
        data = [
            {"id": model, "object": "model", "created": self._created, "owned_by": "staticfire"}
            for model in self._registry.served_models()
        ]
        _json(answer, 200, {"object": "list", "data": data})

    async def metrics(self, answer: Answer) -> None:
        """Prometheus text."""
        answer.send(200, ((b"content-type", CONTENT_TYPE),), await self._metrics.render())


def _why(registry: Registry) -> str:
    """Why nobody can be served."""
    if not registry.workers:
        return "no worker configured"
    missing = registry.missing()
    if missing == ("worker",):
        return "no worker serves yet"
    if missing:
        return f"no {' and no '.join(missing)} leg serves yet"
    return "no model is served by legs of both roles"


def _json(answer: Answer, status: int, shown: object) -> None:
    answer.send(status, _JSON, msgspec.json.encode(shown))
