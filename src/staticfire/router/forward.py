"""One request carried to one worker, its answer carried back."""

from __future__ import annotations

import asyncio

from staticfire import wire
from staticfire.clock import current
from staticfire.router.breaker import Permit
from staticfire.router.errors import Failure
from staticfire.router.metrics import Metrics
from staticfire.router.outcome import Ended, Outcome, classify
from staticfire.router.registry import Registry
from staticfire.router.settings import Settings
from staticfire.router.stream import Silence, Witness
from staticfire.router.worker import Worker
from staticfire.wire.head import hop_by_hop

__all__ = ["Attempt", "Forwarder"]

_OURS = frozenset((b"host", b"content-length", b"expect"))


class Attempt:
    """One attempt at a worker: settled exactly once, with one outcome for breaker and metric."""

    __slots__ = ("_metrics", "_permit", "_statuses", "_worker", "model", "outcome")

    def __init__(
        self, worker: Worker, permit: Permit, model: str, metrics: Metrics, statuses: frozenset[int]
    ) -> None:
        self._worker = worker
        self._permit = permit
        self._metrics = metrics
        self._statuses = statuses
        self.model = model
        self.outcome: Outcome | None = None
        worker.in_flight += 1

    def settle(self, ended: Ended) -> None:
        """Tell breaker, metric, readiness. A second call changes nothing."""
        if self.outcome is not None:
            return
        outcome = self.outcome = classify(ended, self._statuses)
        worker = self._worker
        now = current().now()
        worker.in_flight -= 1
        worker.breaker.record(self._permit, outcome, now)
        self._metrics.attempt(worker.id, self.model, outcome)
        if outcome is Outcome.success:
            worker.watch.renew(now)


class Forwarder:
    """Carries bytes both ways, unchanged, at the pace of the slower side.

    No retries here but one: an idle connection that is found dead before anything was sent on it
    is replaced. After the first byte a worker may have begun.
    """

    def __init__(self, registry: Registry, metrics: Metrics, settings: Settings) -> None:
        self._registry = registry
        self._metrics = metrics
        self._settings = settings

    async def forward(
        self, worker: Worker, permit: Permit, model: str, request: wire.Request, answer: wire.Answer
    ) -> Failure | None:
        """Answer from the worker, or return what to say instead when nothing was relayed yet."""
        attempt = Attempt(
            worker, permit, model, self._metrics, self._settings.backpressure_statuses
        )
        exchange: wire.Exchange | None = None
        try:
            connection = worker.idle_connection() or await self._connect(worker)
            exchange = connection.exchange(
                request.method, request.target, _passing(request.headers, _OURS), request.body
            )
            failure = await self._answer(exchange, attempt, answer)
        except wire.WireError as error:
            attempt.settle(Ended("failed"))
            if isinstance(error, wire.Unreachable):
                self._unreachable(worker, error)
            return Failure(502, "worker_unreachable", f"worker {worker.id}: {error.reason}")
        except BaseException:
            # The client left, or we are stopping: no verdict on the worker.
            attempt.settle(Ended("cancelled"))
            if exchange is not None and exchange.whole:
                worker.give_back(connection)
            elif exchange is not None:
                exchange.abort()
            raise
        if exchange.whole:
            worker.give_back(connection)
        return failure

    async def _connect(self, worker: Worker) -> wire.Connection:
        try:
            async with asyncio.timeout(self._settings.connect_timeout_secs):
                return await worker.connect()
        except TimeoutError:
            raise wire.Unreachable("the connection could not be made in time") from None

    def _unreachable(self, worker: Worker, error: wire.Unreachable) -> None:
        if isinstance(error.__cause__, ConnectionRefusedError):
            worker.watch.refused()
            self._registry.update(worker)
        worker.poke()

    async def _answer(
        self, exchange: wire.Exchange, attempt: Attempt, answer: wire.Answer
    ) -> Failure | None:
        settings = self._settings
        try:
            async with asyncio.timeout(settings.request_timeout_secs):
                head = await exchange.head()
                witness = Witness(head)
                # The head of a plain answer waits for its body: until then a cut can still be
                # told as a 502. A stream's head goes out at once.
                data = b"" if witness.stream else await exchange.first()
        except TimeoutError:
            exchange.abort()
            attempt.settle(Ended("failed"))
            return Failure(504, "worker_timeout", "the worker did not answer in time")
        except wire.WireError as error:
            attempt.settle(Ended("cut"))
            return Failure(502, "worker_cut", f"the worker's answer broke off: {error.reason}")
        if witness.watching and data:
            witness.see(data)
        whole = exchange.whole and not exchange.held
        if whole:
            witness.end()
            attempt.settle(Ended("whole", head.status, witness.body(), witness.event))
        answer.start(head.status, _passing(head.headers, _LENGTH), head.length)
        if whole:
            answer.finish(data)
            return None
        if data:
            answer.write(data)
        else:
            answer.flush()
        await self._relay(exchange, head.status, witness, attempt, answer)
        return None

    async def _relay(
        self,
        exchange: wire.Exchange,
        status: int,
        witness: Witness,
        attempt: Attempt,
        answer: wire.Answer,
    ) -> None:
        def passing(data: bytes) -> None:
            silence.touch()
            answer.write(data)
            if witness.watching:
                witness.see(data)

        def silent() -> None:
            # Whose silence? While the client does not read, it is not the worker's.
            attempt.settle(Ended("cancelled" if answer.paused else "cut"))
            exchange.abort()

        silence = Silence(self._settings.stream_idle_timeout_secs, silent)
        answer.on_pause, answer.on_resume = exchange.pause, exchange.resume
        if answer.paused:
            exchange.pause()
        try:
            await exchange.pipe(passing)
        except wire.WireError:
            attempt.settle(Ended("cut"))
            answer.cut(at_once=answer.paused)
            return
        finally:
            silence.stop()
            answer.on_pause = answer.on_resume = None
        witness.end()
        attempt.settle(Ended("whole", status, witness.body(), witness.event))
        answer.finish()


_LENGTH = frozenset((b"content-length",))


def _passing(headers: tuple[wire.Header, ...], ours: frozenset[bytes]) -> list[wire.Header]:
    """The headers that pass a proxy."""
    stays = hop_by_hop(headers)
    return [
        header
        for header in headers
        if (name := header[0].lower()) not in stays and name not in ours
    ]
