"""What the router answers about itself."""

from __future__ import annotations

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
        self.table = {
            b"/health": self.health,
            b"/liveness": self.health,
            b"/readiness": self.readiness,
            b"/v1/models": self.models,
            b"/workers": self.workers,
            b"/metrics": self.metrics,
        }

    def health(self, answer: Answer) -> None:
        """200 while the process answers."""
        _json(answer, 200, {"status": "ok"})

    def readiness(self, answer: Answer) -> None:
        """200 once a worker serves, else 503 with each worker's reason.

        Breakers do not count: a resting worker must not take the router out of its service.
        """
        registry = self._registry
        serving = len(registry.serving())
        shown: dict[str, object] = {
            "status": "ready" if serving else "not ready",
            "healthy_workers": serving,
            "total_workers": len(registry.workers),
        }
        if not serving:
            shown["reason"] = "no worker serves yet" if registry.workers else "no worker configured"
            shown["workers"] = {worker.id: worker.reason for worker in registry.workers}
        _json(answer, 200 if serving else 503, shown)

    def models(self, answer: Answer) -> None:
        """The models that somebody serves."""
        data = [
            {"id": model, "object": "model", "created": self._created, "owned_by": "staticfire"}
            for model in self._registry.served_models()
        ]
        _json(answer, 200, {"object": "list", "data": data})

    def workers(self, answer: Answer) -> None:
        """Each worker's state, with the reason for it."""
        shown = [
            {
                "id": worker.id,
                "models": worker.models,
                "serving": worker.serving,
                "status": worker.watch.record.status.value,
                "verdict": worker.watch.record.verdict,
                "reason": worker.reason,
                "generation": worker.watch.record.generation,
                "breaker": str(worker.breaker.state),
                "in_flight": worker.in_flight,
            }
            for worker in self._registry.workers
        ]
        _json(answer, 200, {"workers": shown})

    def metrics(self, answer: Answer) -> None:
        """Prometheus text."""
        answer.send(200, ((b"content-type", CONTENT_TYPE),), self._metrics.render())


def _json(answer: Answer, status: int, shown: object) -> None:
    answer.send(status, _JSON, msgspec.json.encode(shown))
