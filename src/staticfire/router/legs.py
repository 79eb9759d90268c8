"""One request answered by two workers: one reads the prompt, the other makes the tokens.

Theory. A pair is two attempts, one for each leg, each with its own permit, load and outcome. To the
dispatcher it is one attempt whose worker is the leg that answers, or the one to blame. vLLM's legs
are asked in turn, SGLang's at once. The first failure decides: it is what the client gets, or what
is tried again elsewhere, and the other leg is let go without a verdict. Once the decode leg has made
its first token the cache has arrived, and what becomes of the prefill leg is its own affair; but when
the answer is whole it has a moment to end, and is let go then.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Collection
from typing import Any, TypeVar

from staticfire import wire
from staticfire.router import legs_sglang, legs_vllm
from staticfire.router.asked import Asked
from staticfire.router.attempt import Attempt
from staticfire.router.choose import Chooser
from staticfire.router.errors import Failure
from staticfire.router.forward import Failed, Forwarder, Offer
from staticfire.router.legs_settings import leg
from staticfire.router.outcome import Ended, Outcome
from staticfire.router.passage import Passage
from staticfire.router.settings import Settings
from staticfire.router.worker import Worker

__all__ = ["PAIRED", "Pair", "Pairs"]

PAIRED = frozenset((b"/v1/chat/completions", b"/v1/completions"))
"""What takes two legs. Everything else is asked of a prefill leg alone."""

_MOST = 16 << 20
"""Bytes of a prefill leg's answer: more is not read."""
_LINGER = 10.0
"""Seconds for which a prefill leg may outlive the whole answer of its decode leg."""

T = TypeVar("T")


class Pair:
    """Two attempts that look like one: the decode leg's, which answers."""

    __slots__ = ("decode", "prefill", "reading")

    def __init__(self, prefill: Attempt, decode: Attempt) -> None:
        self.prefill = prefill
        self.decode = decode
        self.reading: asyncio.Task[Any] | None = None
        """The prefill leg, while it is not done although the decode leg answers."""

    @property
    def worker(self) -> Worker:
        """The decode leg."""
        return self.decode.worker

    @property
    def model(self) -> str:
        """The model as the registry names it."""
        return self.decode.model

    @property
    def outcome(self) -> Outcome | None:
        """What the decode leg came to."""
        return self.decode.outcome

    @property
    def rename(self) -> str | None:
        """The legs' own name for the model; legs of one model name it alike."""
        return self.decode.rename

    @property
    def why(self) -> str:
        """Why the decode leg was chosen."""
        return self.decode.why

    def withdraw(self) -> None:
        """Give both back unused."""
        self.prefill.withdraw()
        self.decode.withdraw()

    def settle(self, ended: Ended) -> None:
        """How the decode leg's answer ended; short of its end the prefill leg is let go too."""
        self.decode.settle(ended)
        if self.reading is None:
            return
        if ended.how == "whole":
            self.linger(self.reading)
        else:
            self.reading.cancel()

    @staticmethod
    def linger(reading: asyncio.Task[Any]) -> None:
        """The answer is whole: the prefill leg has nothing more to do."""
        if not reading.done():
            timer = asyncio.get_running_loop().call_later(_LINGER, reading.cancel)
            reading.add_done_callback(lambda _: timer.cancel())


class Pairs:
    """Chooses pairs and carries them to the first bytes of an answer, for the dispatcher."""

    def __init__(
        self,
        chooser: Chooser,
        forwarder: Forwarder,
        settings: Settings,
    ) -> None:
        self._chooser = chooser
        self._forwarder = forwarder
        self._settings = settings
        legs = (leg(text, "--prefill") for text in settings.prefill)
        self._ports = {one.url: one.port for one in legs}
        self._chance = random.Random(settings.seed)
        self._reading: set[asyncio.Task[Any]] = set()

    def choose(self, asked: Asked, tried: Collection[object], now: int) -> Attempt | Pair | Failure:
        """A pair without the workers in `tried`, or why there is none."""
        prefill = self._chooser.choose(asked, tried, now, role="prefill")
        if isinstance(prefill, Failure) or asked.path not in PAIRED:
            return prefill
        decode = self._chooser.choose(asked, tried, now, role="decode")
        if isinstance(decode, Failure):
            prefill.withdraw()
            return decode
        return Pair(prefill, decode)

    def others(self, asked: Asked, tried: Collection[object], now: int) -> bool:
        """Whether `choose` would find a pair without the workers in `tried`."""
        roles = ("prefill", "decode") if asked.path in PAIRED else ("prefill",)
        return all(self._chooser.others(asked, tried, now, role=role) for role in roles)

    async def forward(self, lease: Attempt | Pair, passage: Passage, body: bytes) -> Offer | Failed:
        """Ask both legs. A leg that failed or is whole is settled here."""
        if isinstance(lease, Attempt):
            return await self._forwarder.forward(lease, passage, body)
        if self._settings.pd_disaggregation == "vllm":
            return await self._in_turn(lease, passage, body)
        return await self._at_once(lease, passage, body)

    async def stop(self) -> None:
        """End the prefill legs that are still read."""
        for task in tuple(self._reading):
            task.cancel()
        if self._reading:
            await asyncio.wait(tuple(self._reading))

    # -- one after the other

    async def _in_turn(self, pair: Pair, passage: Passage, body: bytes) -> Offer | Failed:
        try:
            told = await self._read(pair.prefill, passage, legs_vllm.prefill_body(body))
        except BaseException:
            pair.decode.withdraw()
            raise
        if not isinstance(told, bytes):
            pair.decode.withdraw()
            return told
        again = legs_vllm.decode_body(body, legs_vllm.told(told))
        return await self._forwarder.forward(pair.decode, passage, again)

    # -- both at once

    async def _at_once(self, pair: Pair, passage: Passage, body: bytes) -> Offer | Failed:
        worker = pair.prefill.worker
        both = legs_sglang.both_bodies(
            body, worker.address.host, self._ports.get(worker.url), self._chance
        )
        loop = asyncio.get_running_loop()
        reading = loop.create_task(self._read(pair.prefill, passage, both), name="prefill leg")
        making = loop.create_task(self._make(pair.decode, passage, both), name="decode leg")
        try:
            await asyncio.wait((reading, making), return_when=asyncio.FIRST_COMPLETED)
            if reading.done() and isinstance(reading.result(), bytes):
                await asyncio.wait((making,))  # well: the decode leg decides
        except BaseException:
            self._let_go(reading, pair.prefill)
            self._let_go(making, pair.decode)
            raise
        if not making.done():
            self._let_go(making, pair.decode)
            refused = reading.result()
            assert not isinstance(refused, bytes), "a leg that is well decides nothing"
            return refused
        found = making.result()
        if isinstance(found, Failed) or found.head.status >= 400:
            self._let_go(reading, pair.prefill)
        else:
            self._leave(reading, pair.prefill)
            pair.reading = reading
            if found.whole:
                pair.linger(reading)
            found.attempt = pair
        return found

    async def _make(self, attempt: Attempt, passage: Passage, body: bytes) -> Offer | Failed:
        """The decode leg up to its first token: its head alone does not say that the cache came."""
        found = await self._forwarder.forward(attempt, passage, body)
        if isinstance(found, Failed) or found.whole or found.data:
            return found
        try:
            async with asyncio.timeout(self._settings.request_timeout_secs):
                found.data = await found.exchange.first()
        except TimeoutError:
            attempt.settle(Ended("failed"))
            found.break_off()
            why = f"worker {attempt.worker.id} made no token in time"
            return Failed(attempt, Failure(504, "worker_timeout", why), began=True)
        except wire.WireError as error:
            attempt.settle(Ended("cut"))
            why = f"the answer of worker {attempt.worker.id} broke off: {error.reason}"
            return Failed(attempt, Failure(502, "worker_cut", why), began=True)
        except BaseException:
            attempt.settle(Ended("cancelled"))
            found.break_off()
            raise
        return found

    def _let_go(self, task: asyncio.Task[T], attempt: Attempt) -> None:
        """Nobody wants this leg any more: its worker sees its connection go.

        Nothing is awaited here: whoever left may be told of it twice.
        """
        task.cancel()
        self._leave(task, attempt)

    def _leave(self, task: asyncio.Task[T], attempt: Attempt) -> None:
        """See to the end of a leg that decides nothing any more."""

        def gone(task: asyncio.Task[T]) -> None:
            self._reading.discard(task)
            if not task.cancelled() and task.exception() is None:
                found: object = task.result()
                if isinstance(found, Offer) and not found.whole:
                    attempt.settle(Ended("cancelled"))
                    found.break_off()
            attempt.settle(Ended("cancelled"))  # also a task that was cancelled before it ran

        self._reading.add(task)
        task.add_done_callback(gone)

    # -- a prefill leg

    async def _read(
        self, attempt: Attempt, passage: Passage, body: bytes
    ) -> bytes | Offer | Failed:
        """The whole answer of a prefill leg that is well; else what the client gets instead."""
        found = await self._forwarder.forward(attempt, passage, body)
        if isinstance(found, Failed) or found.head.status >= 400:
            return found
        answer = found.data
        if not found.whole:
            drained = await self._drain(attempt, found)
            if isinstance(drained, Failed):
                return drained
            answer += drained
        if attempt.outcome is Outcome.success:
            return answer
        status = found.witness.event or 502
        why = f"the prefill leg {attempt.worker.id} failed in its stream"
        return Failed(attempt, Failure(status, "prefill_failed", why), began=True)

    async def _drain(self, attempt: Attempt, found: Offer) -> bytes | Failed:
        exchange, witness = found.exchange, found.witness
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._settings.request_timeout_secs):
                async for data in exchange:
                    witness.see(data)
                    parts.append(data)
                    size += len(data)
                    if size > _MOST:
                        raise wire.TooLarge("it has no end")
        except (wire.WireError, TimeoutError) as error:
            attempt.settle(Ended("cut"))
            found.break_off()
            reason = error.reason if isinstance(error, wire.WireError) else "it took too long"
            why = f"the answer of the prefill leg {attempt.worker.id} broke off: {reason}"
            return Failed(attempt, Failure(502, "worker_cut", why), began=True)
        except BaseException:
            attempt.settle(Ended("cancelled"))
            found.break_off()
            raise
        witness.end()
        attempt.settle(Ended("whole", found.head.status, witness.body(), witness.event))
        attempt.worker.lines.give_back(found.connection)
        return b"".join(parts)
