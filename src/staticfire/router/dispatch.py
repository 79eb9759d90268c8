"""The attempts that one request takes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Collection
from random import Random
from typing import Generic, Protocol, TypeVar

from staticfire import wire
from staticfire.clock import NS, current
from staticfire.readiness.accept import retry_after
from staticfire.router.asked import Asked
from staticfire.router.attempt import Lease
from staticfire.router.crowd import FULL, Crowd
from staticfire.router.errors import Failure
from staticfire.router.forward import Failed, Offer
from staticfire.router.headers import Headers
from staticfire.router.metrics import Metrics
from staticfire.router.outcome import Outcome
from staticfire.router.passage import Passage
from staticfire.router.relay import Relay
from staticfire.router.retry import Budget, Retries, Tried
from staticfire.router.settings import Settings
from staticfire.router.worker import Worker

__all__ = ["Dispatcher"]

_GRAIN = 10_000  # nanoseconds by which a timer may be early

L = TypeVar("L", bound=Lease)
F_co = TypeVar("F_co", bound=Lease, covariant=True)
T_contra = TypeVar("T_contra", bound=Lease, contravariant=True)


class Chooses(Protocol[F_co]):
    """Who finds a worker for a request, or a pair of them."""

    def choose(self, asked: Asked, tried: Collection[object], now: int) -> F_co | Failure: ...
    def others(self, asked: Asked, tried: Collection[object], now: int) -> bool: ...


class Forwards(Protocol[T_contra]):
    """Who carries a request to what was chosen."""

    def forward(
        self, lease: T_contra, passage: Passage, body: bytes, /
    ) -> Awaitable[Offer | Failed]: ...


class Dispatcher(Generic[L]):
    """Chooses a worker, forwards, and relays the answer; or tries another, or says what is wrong."""

    def __init__(
        self,
        chooser: Chooses[L],
        forwarder: Forwards[L],
        relay: Relay,
        headers: Headers,
        metrics: Metrics,
        settings: Settings,
        crowd: Crowd[L],
    ) -> None:
        self._crowd = crowd
        self._chooser = chooser
        self._forwarder = forwarder
        self._relay = relay
        self._headers = headers
        self._metrics = metrics
        self._retries = settings.retries
        self._total = settings.total_timeout_secs
        self._random = Random(settings.seed)
        self.budget = Budget(settings.retry_budget_share, settings.retry_budget_floor)

    def dispatch(
        self, asked: Asked, passage: Passage, answer: wire.Answer
    ) -> Awaitable[Failure | None]:
        """Answer the request, or return what to say instead when nothing was relayed."""
        if self._total:
            return self._in_time(asked, passage, answer)
        return self._dispatch(asked, passage, answer)

    async def _in_time(self, asked: Asked, passage: Passage, answer: wire.Answer) -> Failure | None:
        try:
            async with asyncio.timeout(self._total):
                return await self._dispatch(asked, passage, answer)
        except TimeoutError:
            if answer.started:
                answer.cut(at_once=answer.paused)
                return None
            return Failure(504, "request_timeout", "the request did not end in its time")

    async def _dispatch(
        self, asked: Asked, passage: Passage, answer: wire.Answer
    ) -> Failure | None:
        budget = self.budget
        budget.live += 1
        try:
            found = await self._ask(asked, passage, ())
            if isinstance(found, Failure):
                return found
            if isinstance(found, Failed) or found.head.status >= 429:
                found = await self._again(asked, passage, found)
                if isinstance(found, Failed):
                    return found.failure
            head = found.head
            headers = self._headers.to_client(head, passage, found.attempt.worker)
            if found.whole:
                # All of it is here, so it has a length, whatever its framing was.
                known = head.framing in ("length", "none")
                answer.start(head.status, headers, head.length if known else len(found.data))
                answer.finish(found.data)
            else:
                await self._relay.carry(found, passage, answer, headers)
        finally:
            budget.live -= 1
        return None

    async def _ask(
        self, asked: Asked, passage: Passage, tried: Collection[object]
    ) -> Offer | Failed | Failure:
        attempt: L | Failure
        if self._crowd.waiting and not tried and self._crowd.queued(_line(asked)):
            attempt = _FULL  # somebody waits already, whom nobody may overtake
        else:
            now = current().now() if tried else passage.admitted
            attempt = self._chooser.choose(asked, tried, now)
        if isinstance(attempt, Failure):
            if attempt.code != FULL or tried:
                return attempt
            attempt = await self._stand(asked, attempt)
            if isinstance(attempt, Failure):
                return attempt
        passage.attempts += 1
        passage.worker, passage.model = attempt.worker.id, attempt.model
        passage.why = attempt.why
        body = asked.body if attempt.rename is None else asked.body_for(attempt.rename)
        return await self._forwarder.forward(attempt, passage, body)

    async def _stand(self, asked: Asked, full: Failure) -> L | Failure:
        """Wait until a worker of the model is below its cap."""
        choose = self._chooser.choose
        return await self._crowd.stand(
            _line(asked), full, lambda: choose(asked, (), current().now())
        )

    async def _again(self, asked: Asked, passage: Passage, found: Offer | Failed) -> Offer | Failed:
        """The newest answer of all tries; a worker's own stands before a failure of ours."""
        retries: Retries[Worker] = Retries(self._retries)
        newest, holding = found, False
        try:
            while True:
                tried = _tried(found)
                verdict = retries.told(found.attempt.worker, tried, current().now())
                if verdict != "again" or not (holding or self.budget.take()):
                    return newest
                holding = True
                if not await self._rest(asked, retries):
                    return newest
                following = await self._ask(asked, passage, retries.tried)
                if isinstance(following, Failure):
                    return newest
                self._metrics.retry(tried.outcome.value)
                found = following
                if isinstance(found, Offer) or isinstance(newest, Failed):
                    newest = found
        finally:
            if holding:
                self.budget.give()

    async def _rest(self, asked: Asked, retries: Retries[Worker]) -> bool:
        """Wait until somebody may be asked; False when there will be nobody."""
        pause = retries.pause(self._random.random())
        if not self._chooser.others(asked, retries.tried, current().now()):
            soonest = retries.soonest(current().now())
            if soonest is None:
                return False
            pause = max(pause, soonest)
        if pause:
            await asyncio.sleep(pause / NS)
            retries.forgive(current().now() + _GRAIN)
        return True


_FULL = Failure(429, FULL, "every worker has as many requests as it may", "model", retry_after=1)


def _line(asked: Asked) -> str:
    """In whose line a request waits: that of its model, whatever its revision."""
    return "" if asked.model is None else asked.model.partition("@")[0]


def _tried(found: Offer | Failed) -> Tried:
    """What an attempt came to, as far as another one hangs on it."""
    if isinstance(found, Failed):
        return Tried(Outcome.error, found.began)
    outcome = found.attempt.outcome
    if outcome is None:  # not all of it is here, so it is under way and cannot be taken back
        return Tried(Outcome.success, began=True)
    pause = retry_after(found.head, current().wall())
    return Tried(outcome, outcome is not Outcome.backpressure, pause)
