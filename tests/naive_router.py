"""A deliberately naive router, with the faults that real ones were seen to have.

Every promise of the features about routers is seen red on it:

- any status from 400 up counts as a fault, 503 and 429 too, and so does an error in a stream;
- a body cut short is ended cleanly, and a stream gets a `[DONE]` that no engine sent;
- it looks for workers ever more rarely, and no longer after ten minutes;
- a session belongs to a worker by its hash, so that every late worker moves sessions;
- it is always ready, knows no models, and names workers' addresses to clients.
"""

from __future__ import annotations

import asyncio
import logging
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import aiohttp
from aiohttp import web

from staticfire.clock import NS, current
from staticfire.stand.routers.bundled import BundledRouter

THRESHOLD = 3
REST = 60 * NS
SILENT = logging.getLogger("naive")
SILENT.addHandler(logging.NullHandler())
SILENT.propagate = False


class NaiveRouter:
    """Good enough for a demo, and for nothing else."""

    def __init__(self, workers: Sequence[str], settings: Mapping[str, Any]) -> None:
        del settings
        self.workers = list(workers)
        self.up: list[str] = []
        self.faults = dict.fromkeys(workers, 0)
        self.rests_until = dict.fromkeys(workers, 0)
        self.turn = 0
        self.url = ""

    async def start(self) -> None:
        self._client = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0), auto_decompress=False
        )
        server = web.Server(self._serve, access_log=None, logger=SILENT)
        loop = asyncio.get_running_loop()
        self._server = server
        self._listener = await loop.create_server(server, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._listener.sockets[0].getsockname()[1]}"
        self._looking = asyncio.create_task(self._look(), name="the naive router's look")

    async def stop(self) -> None:
        self._looking.cancel()
        with suppress(asyncio.CancelledError):
            await self._looking
        self._listener.close()
        await self._server.shutdown(0)
        await self._client.close()

    async def _look(self) -> None:
        """After 1, 2, 4 … seconds; a worker that came after ten minutes is never seen."""
        pause = 1.0
        while pause < 600:
            for worker in self.workers:
                with suppress(aiohttp.ClientError, asyncio.TimeoutError):
                    async with self._client.get(f"{worker}/v1/models") as listing:
                        if listing.status == 200 and worker not in self.up:
                            self.up.append(worker)
            await asyncio.sleep(pause)
            pause *= 2

    def _choose(self, session: str | None) -> str | None:
        now = current().now()
        able = [worker for worker in self.up if self.rests_until[worker] <= now]
        if not able:
            return None
        self.turn += 1
        return able[(zlib.crc32(session.encode()) if session else self.turn) % len(able)]

    def _count(self, worker: str, status: int) -> None:
        if status < 400:
            self.faults[worker] = 0
            return
        self.faults[worker] += 1
        if self.faults[worker] >= THRESHOLD:
            self.faults[worker] = 0
            self.rests_until[worker] = current().now() + REST

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.path in ("/readiness", "/liveness"):
            return web.Response(status=200)
        if request.path != "/v1/chat/completions":
            return web.Response(status=404)
        worker = self._choose(request.headers.get("x-session-id"))
        if worker is None:
            return web.Response(status=500, text=f"no worker among {self.workers}")
        body = await request.read()
        try:
            async with self._client.post(
                worker + request.path,
                data=body,
                headers={
                    "Content-Type": "application/json",
                    "X-Session-Id": request.headers.get("X-Session-Id", ""),
                    "X-Request-Id": request.headers.get("X-Request-Id", ""),
                },
            ) as answer:
                return await self._relay(worker, request, answer)
        except (aiohttp.ClientError, ConnectionError):
            self._count(worker, 500)
            return web.Response(status=500, text=f"{worker} failed")

    async def _relay(
        self, worker: str, request: web.BaseRequest, answer: aiohttp.ClientResponse
    ) -> web.StreamResponse:
        kind = answer.headers.get("Content-Type", "text/plain")
        if not kind.startswith("text/event-stream"):
            whole = bytearray()
            with suppress(aiohttp.ClientPayloadError):
                async for chunk in answer.content.iter_any():
                    whole += chunk
            self._count(worker, answer.status)
            return web.Response(
                status=answer.status, body=bytes(whole), headers={"Content-Type": kind}
            )
        out = web.StreamResponse(status=answer.status, headers={"Content-Type": kind})
        await out.prepare(request)
        status = answer.status
        with suppress(aiohttp.ClientPayloadError):
            async for chunk in answer.content.iter_any():
                status = 500 if b'"error"' in chunk else status
                await out.write(chunk)
        self._count(worker, status)
        await out.write(b"data: [DONE]\n\n")
        await out.write_eof()
        return out


class Counts503(BundledRouter):
    """Ours with a planted bug: backpressure counts as a fault."""

    def __init__(self, workers: Sequence[str], settings: Mapping[str, Any]) -> None:
        super().__init__(workers, {**settings, "backpressure_statuses": frozenset()})


class NeverOpens(BundledRouter):
    """Ours with a planted bug: the breaker never opens."""

    def __init__(self, workers: Sequence[str], settings: Mapping[str, Any]) -> None:
        super().__init__(workers, {**settings, "disable_circuit_breaker": True})


class LooksRarely(BundledRouter):
    """Ours with a planted bug: workers that do not serve yet are looked at once a minute."""

    def __init__(self, workers: Sequence[str], settings: Mapping[str, Any]) -> None:
        super().__init__(workers, {**settings, "startup_check_interval_secs": 60.0})
