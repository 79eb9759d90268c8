"""An answer carried to the client, at the pace of the slower side."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from staticfire import wire
from staticfire.clock import current
from staticfire.router.forward import Offer
from staticfire.router.metrics import Metrics
from staticfire.router.outcome import Ended
from staticfire.router.passage import Passage
from staticfire.router.settings import Settings
from staticfire.router.stream import Silence

__all__ = ["Relay"]

_MORE = 0.1
"""Seconds for which a stream that stated a length is watched for bytes beyond it."""


class Relay:
    """Byte for byte, a cut as a cut, and two clocks: the worker's silence and the client's.

    While the client does not read, nothing is read from the worker, and the worker's silence does
    not count.
    """

    def __init__(self, metrics: Metrics, settings: Settings) -> None:
        self._metrics = metrics
        self._idle = settings.stream_idle_timeout_secs
        self._stall = settings.write_stall_timeout_secs

    async def carry(
        self, offer: Offer, passage: Passage, answer: wire.Answer, headers: Iterable[wire.Header]
    ) -> None:
        """Carry an offer that is not whole to its end, and settle it; a stream's end is counted."""
        exchange, attempt = offer.exchange, offer.attempt
        # A stream goes out in chunks: a length that is not true could not be taken back.
        length = None if offer.witness.stream else offer.head.length
        answer.start(offer.head.status, headers, length)
        passage.stream = offer.witness.stream
        end = "client_disconnect"
        try:
            end = await self._carry(offer, passage, answer)
        except BaseException:
            # The client left, or we are stopping: no verdict on the worker.
            attempt.settle(Ended("cancelled"))
            offer.break_off()
            raise
        finally:
            if passage.stream:
                self._metrics.stream(attempt.worker.id, attempt.model, end)
            if exchange.whole:
                attempt.worker.lines.give_back(offer.connection)

    async def _carry(self, offer: Offer, passage: Passage, answer: wire.Answer) -> str:
        attempt, exchange, witness = offer.attempt, offer.exchange, offer.witness
        loop = asyncio.get_running_loop()
        stall: asyncio.TimerHandle | None = None
        end = "upstream_error"

        def passing(data: bytes) -> None:
            silence.touch()
            answer.write(data)
            if witness.watching:
                witness.see(data)

        def silent() -> None:
            nonlocal end
            end = "idle_timeout"
            attempt.settle(Ended("cut"))
            offer.break_off()

        def stalled() -> None:
            nonlocal end
            end = "client_stalled"
            attempt.settle(Ended("cancelled"))
            offer.break_off()

        silence = Silence(self._idle, silent)

        def pause() -> None:
            nonlocal stall
            silence.stop()
            stall = loop.call_later(self._stall, stalled)
            exchange.pause()

        def resume() -> None:
            nonlocal silence
            if stall is not None:
                stall.cancel()
                silence = Silence(self._idle, silent)
            exchange.resume()

        answer.on_pause, answer.on_resume = pause, resume
        try:
            answer.flush()
            data = offer.data or await exchange.first()
            if data:
                passage.first_at = current().now()
                passing(data)
                if answer.paused and stall is None:
                    pause()
                await exchange.pipe(passing)
        except wire.WireError:
            attempt.settle(Ended("cut"))
            answer.cut(at_once=answer.paused)
            return end
        finally:
            silence.stop()
            if stall is not None:
                stall.cancel()
            answer.on_pause = answer.on_resume = None
        if witness.stream and not data:
            # Whole by its framing, but a stream without an event says nothing: the client must
            # be able to tell.
            attempt.settle(Ended("cut"))
            answer.cut()
            return "empty_stream"
        if witness.stream and offer.head.length is not None:
            await asyncio.sleep(_MORE)
            if offer.connection.excess:
                attempt.settle(Ended("cut"))
                answer.cut()
                return end
        witness.end()
        attempt.settle(Ended("whole", offer.head.status, witness.body(), witness.event))
        answer.finish()
        if witness.event is not None:
            return "stream_error_event"
        return "ok" if witness.dones < 2 else "protocol_violation"
