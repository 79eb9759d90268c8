"""What `/metrics` shows.

Labels come from the registry and from closed lists, never from what a client wrote: a worker's id,
a model's name as a worker listed it, a route of ours, a code, an outcome. A worker that is removed
vanishes with all its lines.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence

from staticfire.clock import NS
from staticfire.router.breaker import State
from staticfire.router.families import Counter, Counters, Family, Histograms, Sampled
from staticfire.router.outcome import Outcome
from staticfire.router.passage import Passage
from staticfire.router.worker import Worker

__all__ = ["ADMISSIONS", "CONTENT_TYPE", "STREAM_ENDS", "Metrics"]

CONTENT_TYPE = b"text/plain; version=0.0.4; charset=utf-8"

STREAM_ENDS = (
    "ok", "stream_error_event", "upstream_error", "idle_timeout", "client_disconnect",
    "client_stalled", "empty_stream", "protocol_violation",
)  # fmt: skip
"""How an event stream ended, as its client saw it."""

ADMISSIONS = ("waited", "full", "late", "left")
"""What became of a request that found no free slot."""

SECONDS = (
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0,
    1200.0, 1800.0, 3600.0,
)  # fmt: skip
"""Answers of half an hour are normal here."""

Workers = Callable[[], Sequence[Worker]]
_OTHER = "other"


class Metrics:
    """One set of families for one router. Gauges are read at the scrape."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._requests = Counters("staticfire_requests_total", "Requests that came in.", ("route",))
        self._responses = Counters(
            "staticfire_responses_total", "Answers that were begun.", ("route", "status")
        )
        self._flight = 0
        self._attempts = Counters(
            "staticfire_worker_requests_total",
            "Attempts at a worker by what they came to; the breaker is fed from the same value.",
            ("worker", "model", "outcome"),
        )
        self._streams = Counters(
            "staticfire_worker_streams_total",
            "Event streams by how they ended for their client.",
            ("worker", "model", "outcome"),
        )
        self._errors = Counters(
            "staticfire_errors_total",
            "Answers that the router gave by itself, by x-staticfire-error code.",
            ("code",),
        )
        self._retries = Counters(
            "staticfire_retries_total", "Attempts after the first one of a request.", ("cause",)
        )
        self._decisions = Counters(
            "staticfire_policy_decisions_total",
            "Workers chosen, by the policy's reason.",
            ("model", "policy", "reason"),
        )
        self._transitions = Counters(
            "staticfire_breaker_transitions_total",
            "Changes of a breaker's state, by what caused them.",
            ("worker", "from", "to", "cause"),
        )
        self._admissions = Counters(
            "staticfire_admission_total",
            "Requests that found no free slot, by what became of them.",
            ("result",),
        )
        self._duration = Histograms(
            "staticfire_request_duration_seconds",
            "From a request's arrival to the end of its answer.",
            SECONDS,
            ("model",),
        )
        self._ttft = Histograms(
            "staticfire_ttft_seconds",
            "From a request's arrival to the first bytes of its stream.",
            SECONDS,
            ("model",),
        )
        self._queued = Histograms(
            "staticfire_queue_wait_seconds", "In the line before admission.", SECONDS
        )
        self._gauges: list[Family] = _gauges(workers)
        self.gauge(
            "staticfire_requests_in_flight", "Requests not yet answered.", lambda: self._flight
        )
        for result in ADMISSIONS:
            self._admissions.child(result)
        self._queued.child()
        # Hot: looking a child up by labels costs several times the increment.
        self._outcomes: dict[tuple[str, str, Outcome], Counter] = {}
        self._arrivals: dict[bytes, Counter] = {}
        self._answers: dict[tuple[bytes, int], Counter] = {}
        self._routes: dict[bytes, str] = {}
        self._gone: deque[str] = deque(maxlen=1000)  # ids are never used again

    def gauge(self, name: str, help_: str, read: Callable[[], float]) -> None:
        """Add a number that is read at each scrape."""
        self._gauges.append(Sampled(name, help_, lambda: (((), read()),)))

    def routes(self, known: Iterable[bytes]) -> None:
        """The paths that have a label of their own; all others are `other`."""
        self._routes = {path: path.decode() for path in known}

    # -- what happened

    def arrived(self, path: bytes) -> None:
        """A request came in."""
        self._flight += 1
        child = self._arrivals.get(path)
        if child is None:
            child = self._requests.child(self._routes.get(path, _OTHER))
            if path in self._routes:
                self._arrivals[path] = child
        child.value += 1

    def answered(self, path: bytes, status: int) -> None:
        """A request ended; `status` is 0 when no answer was begun."""
        self._flight -= 1
        if not status:
            return
        child = self._answers.get((path, status))
        if child is None:
            child = self._responses.child(self._routes.get(path, _OTHER), str(status))
            if path in self._routes:
                self._answers[path, status] = child
        child.value += 1

    def passed(self, passage: Passage, now: int) -> None:
        """A request that was given to a worker ended."""
        model = passage.model
        if model:
            self._duration.child(model).observe((now - passage.arrived) / NS)
            if passage.stream and passage.first_at is not None:
                self._ttft.child(model).observe((passage.first_at - passage.arrived) / NS)

    def attempt(self, worker: str, model: str, outcome: Outcome) -> None:
        """One attempt ended."""
        key = (worker, model, outcome)
        child = self._outcomes.get(key)
        if child is None:
            if not self._here(worker):
                return
            child = self._outcomes[key] = self._attempts.child(worker, model, outcome.value)
        child.value += 1

    def stream(self, worker: str, model: str, outcome: str) -> None:
        """One event stream ended, as one of STREAM_ENDS."""
        values = (worker, model, outcome)
        if values in self._streams.children or self._here(worker):
            self._streams.child(*values).inc()

    def failure(self, code: str) -> None:
        """One answer of the router's own."""
        self._errors.child(code).inc()

    def retry(self, cause: str) -> None:
        """One more attempt for the same request; `cause` is an outcome or a word of retry.py."""
        self._retries.child(cause).inc()

    def decision(self, model: str, policy: str, reason: str) -> None:
        """A policy chose a worker."""
        self._decisions.child(model, policy, reason).inc()

    def moved(self, worker: str, before: State, after: State, cause: str) -> None:
        """A breaker's state changed; an unchanged one counts for nothing."""
        if before is not after and self._here(worker):
            self._transitions.child(worker, str(before), str(after), cause).inc()

    def admission(self, result: str, waited: int) -> None:
        """A request that found no free slot, as one of ADMISSIONS, after so many nanoseconds."""
        self._admissions.child(result).inc()
        if result != "full":
            self._queued.child().observe(waited / NS)

    def forget(self, worker: str) -> None:
        """A worker was removed: its lines go with it."""
        self._gone.append(worker)
        for family in (self._attempts, self._streams, self._transitions):
            family.forget("worker", worker)
        self._outcomes = {key: one for key, one in self._outcomes.items() if key[0] != worker}

    def _here(self, worker: str) -> bool:
        """False for the late answer of a worker that was removed: its lines stay gone."""
        return worker not in self._gone

    # -- what is told

    def value(self, worker: str, outcome: Outcome, model: str | None = None) -> int:
        """How many attempts at a worker came to `outcome`, over all models or for one."""
        return sum(
            child.value
            for (name, of, what), child in self._outcomes.items()
            if name == worker and what is outcome and model in (None, of)
        )

    async def render(self) -> bytes:
        """The text that Prometheus scrapes; other work goes on between its pieces."""
        parts: list[str] = []
        for piece in self.pieces():
            parts.append(piece)
            await asyncio.sleep(0)
        return "".join(parts).encode()

    def pieces(self) -> Iterator[str]:
        """The page, so many lines at a time."""
        for family in (
            self._requests, self._responses, self._attempts, self._streams, self._errors,
            self._retries, self._decisions, self._transitions, self._admissions, self._duration,
            self._ttft, self._queued, *self._gauges,
        ):  # fmt: skip
            yield from family.pieces()


def _gauges(workers: Workers) -> list[Family]:
    def of(read: Callable[[Worker], float]) -> Callable[[], Iterator[tuple[tuple[str], float]]]:
        return lambda: (((worker.id,), read(worker)) for worker in tuple(workers()))

    by_worker = ("worker",)
    return [
        Sampled(
            "staticfire_worker_breaker_state",
            "0 closed, 1 open, 2 half-open.",
            of(lambda worker: worker.breaker.state),
            by_worker,
        ),
        Sampled(
            "staticfire_worker_in_flight",
            "Requests under way at a worker.",
            of(lambda worker: worker.in_flight),
            by_worker,
        ),
        Sampled(
            "staticfire_worker_serving",
            "1 while a worker is in rotation.",
            of(lambda worker: worker.serving),
            by_worker,
        ),
        Sampled(
            "staticfire_worker_status",
            "1 for the status that a worker has.",
            lambda: (
                ((worker.id, worker.watch.record.status.value), 1) for worker in tuple(workers())
            ),
            ("worker", "status"),
        ),
        Sampled(
            "staticfire_worker_sign",
            "1 for what the second signal says of a worker: well, suspect, wedged.",
            lambda: (((worker.id, worker.sign.value), 1) for worker in tuple(workers())),
            ("worker", "sign"),
        ),
        Sampled("staticfire_workers", "Workers configured.", lambda: (((), len(workers())),)),
    ]
