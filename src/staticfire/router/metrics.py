"""What `/metrics` shows."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from staticfire.router.outcome import Outcome
from staticfire.router.worker import Worker

__all__ = ["CONTENT_TYPE", "Metrics"]

CONTENT_TYPE = b"text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """One registry for one router. Gauges are read from the workers at a scrape."""

    def __init__(self, workers: tuple[Worker, ...]) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "staticfire_worker_requests",
            "Attempts at a worker by what they came to; the breaker is fed from the same value.",
            ("worker", "model", "outcome"),
            registry=self.registry,
        )
        self._errors = Counter(
            "staticfire_errors",
            "Answers that the router gave by itself, by x-staticfire-error code.",
            ("code",),
            registry=self.registry,
        )
        self.registry.register(_Workers(workers))
        # Looking a child up by labels costs four times the increment.
        self._children: dict[tuple[str, str, Outcome], Counter] = {}

    def attempt(self, worker: str, model: str, outcome: Outcome) -> None:
        """Count one attempt."""
        key = (worker, model, outcome)
        child = self._children.get(key)
        if child is None:
            child = self._children[key] = self._requests.labels(worker, model, outcome.value)
        child.inc()

    def failure(self, code: str) -> None:
        """Count one answer of the router's own."""
        self._errors.labels(code).inc()

    def value(self, worker: str, outcome: Outcome, model: str | None = None) -> int:
        """How many attempts at a worker came to `outcome`, over all models or for one."""
        return sum(
            int(child._value.get())  # noqa: SLF001 - prometheus_client has no public reader
            for (name, of, what), child in self._children.items()
            if name == worker and what is outcome and model in (None, of)
        )

    def render(self) -> bytes:
        """The text that Prometheus scrapes."""
        return generate_latest(self.registry)


class _Workers(Collector):
    def __init__(self, workers: tuple[Worker, ...]) -> None:
        self._workers = workers

    def collect(self) -> Iterable[Metric]:
        state = GaugeMetricFamily(
            "staticfire_worker_breaker_state", "0 closed, 1 open, 2 half-open.", labels=("worker",)
        )
        flight = GaugeMetricFamily(
            "staticfire_worker_in_flight", "Requests under way at a worker.", labels=("worker",)
        )
        serving = GaugeMetricFamily(
            "staticfire_worker_serving", "1 while a worker is in rotation.", labels=("worker",)
        )
        for worker in self._workers:
            state.add_metric((worker.id,), worker.breaker.state)
            flight.add_metric((worker.id,), worker.in_flight)
            serving.add_metric((worker.id,), int(worker.serving))
        return (state, flight, serving)
