"""One attempt carried as far as the first bytes of its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass

from staticfire import wire
from staticfire.clock import current
from staticfire.readiness.accept import retry_after
from staticfire.router.aborts import Aborter
from staticfire.router.attempt import Attempt, Lease
from staticfire.router.errors import Failure
from staticfire.router.headers import Headers
from staticfire.router.outcome import Ended
from staticfire.router.passage import Passage
from staticfire.router.registry import Registry
from staticfire.router.settings import Settings
from staticfire.router.stream import Witness
from staticfire.router.worker import Worker

__all__ = ["Failed", "Forwarder", "Offer"]

_HOLD = 0.1
"""Seconds for which a plain answer that has begun is held for its end: a cut is a 502 then."""


class Offer:
    """An answer whose head is here and of which nothing was relayed yet.

    `whole` is True when all of it is here: the attempt is settled then. Else `relay` carries the
    rest, and settles it.
    """

    __slots__ = (
        "aborter", "attempt", "data", "exchange", "head", "passage", "whole", "witness",
    )  # fmt: skip

    def __init__(
        self,
        attempt: Lease,
        exchange: wire.Exchange,
        head: wire.Head,
        witness: Witness,
        data: bytes,
        whole: bool,
        aborter: Aborter,
        passage: Passage,
    ) -> None:
        self.attempt = attempt
        self.exchange = exchange
        self.head = head
        self.witness = witness
        self.data = data
        self.whole = whole
        self.aborter = aborter
        self.passage = passage

    @property
    def connection(self) -> wire.Connection:
        """Where it comes from."""
        return self.exchange.connection

    def break_off(self) -> None:
        """The rest is wanted by nobody: the worker sees its connection go at once."""
        if not self.exchange.ended:
            self.exchange.abort()
            self.aborter.tell(self.attempt.worker, self.passage.id)


@dataclass(frozen=True, slots=True)
class Failed:
    """An attempt without an answer; `began` is True when the worker may have begun."""

    attempt: Attempt
    failure: Failure
    began: bool


class Forwarder:
    """Connects, sends, waits for the head and, of a plain answer, for its body's first bytes.

    An idle connection that is found dead before anything was sent on it is replaced. So is, once,
    a kept one that was closed just as the request went out, so that the worker's machine took
    nothing of it. Any other request that was sent may have begun.
    """

    def __init__(
        self, registry: Registry, headers: Headers, settings: Settings, aborter: Aborter
    ) -> None:
        self._registry = registry
        self._headers = headers
        self._connect_time = settings.connect_timeout_secs
        self._aborter = aborter
        self._deadlines: wire.Deadlines[wire.Exchange] = wire.Deadlines(
            settings.request_timeout_secs, wire.Exchange.expire
        )

    def forward(self, attempt: Attempt, passage: Passage, body: bytes) -> Awaitable[Offer | Failed]:
        """Ask the worker. The attempt is settled here when it failed or is whole."""
        connection = attempt.worker.lines.idle()
        if connection is None:
            return self._afresh(attempt, passage, body)
        return self._ask(attempt, passage, body, connection)

    def stop(self) -> None:
        """Nothing expires any more."""
        self._deadlines.close()

    async def _afresh(self, attempt: Attempt, passage: Passage, body: bytes) -> Offer | Failed:
        try:
            connection = await self._connect(attempt.worker)
        except wire.WireError as error:
            return self._unreachable(attempt, error)
        except BaseException:
            attempt.settle(Ended("cancelled"))
            raise
        return await self._ask(attempt, passage, body, connection)

    async def _connect(self, worker: Worker) -> wire.Connection:
        try:
            async with asyncio.timeout(self._connect_time):
                return await worker.lines.connect()
        except TimeoutError:
            raise wire.Unreachable("the connection could not be made in time") from None

    def _unreachable(self, attempt: Attempt, error: wire.WireError) -> Failed:
        worker = attempt.worker
        attempt.settle(Ended("failed"))
        if isinstance(error, wire.Unreachable) and error.refused:
            worker.watch.refused()
            self._registry.update(worker)
        worker.poke()
        failure = Failure(502, "worker_unreachable", f"worker {worker.id}: {error.reason}")
        return Failed(attempt, failure, began=False)

    async def _ask(
        self, attempt: Attempt, passage: Passage, body: bytes, connection: wire.Connection
    ) -> Offer | Failed:
        worker, request = attempt.worker, passage.request
        headers = self._headers.to_worker(passage, worker)
        try:
            exchange = connection.exchange(request.method, request.target, headers, body)
        except wire.WireError as error:
            return self._unreachable(attempt, error)
        deadlines = self._deadlines
        deadlines.start(exchange, connection.loop.time())
        try:
            head = await exchange.head()
            witness = Witness(head)
            # The head of a plain answer waits for its body: until then a cut can still be
            # told as a 502. A stream's head goes out at once.
            data = b"" if witness.stream else await exchange.first()
            deadlines.stop(exchange)
            whole = exchange.whole and not exchange.held
            if not whole:
                if not (witness.stream or exchange.ended):
                    data = await exchange.more(data, _HOLD)
                if exchange.error is not None and not exchange.held:
                    raise exchange.error
                whole = exchange.whole and not exchange.held
            if connection.excess and head.framing == "length":
                raise wire.Malformed("more bytes than its length came")
        except wire.WireError as error:
            deadlines.stop(exchange)
            if isinstance(error, wire.Cut) and not error.taken and connection.used > 1:
                return await self._afresh(attempt, passage, body)
            return self._broken(attempt, passage, error)
        except BaseException:
            # The client left, or we are stopping: no verdict on the worker.
            deadlines.stop(exchange)
            attempt.settle(Ended("cancelled"))
            if exchange.whole:
                worker.lines.give_back(connection)
            else:
                exchange.abort()
                self._aborter.tell(worker, passage.id)
            raise
        status = head.status
        if status >= 429:
            attempt.rest = retry_after(head, current().wall()) or 0
        if whole:
            worker.lines.give_back(connection)
            if witness.stream and not data:
                return _empty(attempt)
            if witness.watching:
                witness.see(data)
                witness.end()
                attempt.settle(Ended("whole", status, witness.body(), witness.event))
            else:
                attempt.settle(Ended("whole", status))
        return Offer(attempt, exchange, head, witness, data, whole, self._aborter, passage)

    def _broken(self, attempt: Attempt, passage: Passage, error: wire.WireError) -> Failed:
        worker = attempt.worker
        if isinstance(error, wire.Late):
            self._aborter.tell(worker, passage.id)
            attempt.settle(Ended("failed"))
            why = f"worker {worker.id} did not answer in time"
            return Failed(attempt, Failure(504, "worker_timeout", why), began=True)
        attempt.settle(Ended("cut"))
        if isinstance(error, wire.Cut):
            why = f"the answer of worker {worker.id} broke off: {error.reason}"
            return Failed(attempt, Failure(502, "worker_cut", why), began=error.taken)
        why = f"the answer of worker {worker.id} cannot be read as HTTP/1.1: {error.reason}"
        return Failed(attempt, Failure(502, "worker_malformed", why), began=True)


def _empty(attempt: Attempt) -> Failed:
    """A stream without a single byte says nothing, and ends as if it had."""
    attempt.settle(Ended("cut"))
    why = f"the stream of worker {attempt.worker.id} ended without an event"
    return Failed(attempt, Failure(502, "worker_empty", why), began=True)
