"""A small router with a switch for each flaw of `flaws.FLAWS`; those of `NAIVE` are on unless told.

Without any it keeps the promises that the flaws break, and is still good for nothing else: no
limits, no deadlines, one attempt for each request. It shares no code with the bundled router.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from aiohttp import web

from staticfire.clock import NS, current
from staticfire.stand.routers.flaws import NAIVE

__all__ = ["NaiveRouter"]

STREAK, REST = 5, 30 * NS
TOO_SOON, TOO_LONG = 3, 60 * NS
SHED = (429, 503, 529)
SILENT = logging.getLogger("staticfire.naive")
SILENT.addHandler(logging.NullHandler())
SILENT.propagate = False


@dataclass
class Worker:
    """An engine as this router sees it."""

    url: str
    models: set[str] = field(default_factory=set)
    up: bool = False
    streak: int = 0
    rests_until: int | None = None
    probing: bool = False
    epoch: int = 0
    """Counts its rests: an answer to a request of an older one proves nothing now."""


class NaiveRouter:
    """See the module's first lines; settings of a scenario are not looked at."""

    def __init__(
        self,
        workers: Sequence[str],
        settings: Mapping[str, Any],
        flaws: Iterable[str] = NAIVE,
    ) -> None:
        del settings
        self.workers = [Worker(url) for url in workers]
        self.flaws = frozenset(flaws)
        self.sessions: dict[str, Worker] = {}
        self.turn = 0
        self.url = ""

    # --- its life

    async def start(self) -> None:
        """Bind, and begin to look for workers."""
        self._client = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, force_close=True), auto_decompress=False
        )
        self._server = web.Server(self._serve, access_log=None, logger=SILENT)
        loop = asyncio.get_running_loop()
        self._listener = await loop.create_server(self._server, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._listener.sockets[0].getsockname()[1]}"
        self._looking = [
            asyncio.create_task(self._look(worker), name="the naive router's look")
            for worker in self.workers
        ]

    async def stop(self) -> None:
        """End at once."""
        for task in self._looking:
            task.cancel()
        await asyncio.gather(*self._looking, return_exceptions=True)
        self._listener.close()
        await self._server.shutdown(0)
        await self._client.close()

    # --- its workers

    async def _look(self, worker: Worker) -> None:
        pause, rarely = 1.0, "looks-ever-more-rarely" in self.flaws
        while not rarely or pause < 600:
            was = worker.up
            with contextlib.suppress(aiohttp.ClientError, asyncio.TimeoutError, ValueError):
                worker.up = await self._lists(worker) and (was or await self._answers(worker))
            await asyncio.sleep(pause * (4 if worker.up else 1))
            pause *= 2 if rarely else 1

    async def _lists(self, worker: Worker) -> bool:
        try:
            limit = aiohttp.ClientTimeout(total=2)
            async with self._client.get(f"{worker.url}/v1/models", timeout=limit) as answer:
                page = await answer.json()
                worker.models = {one["id"] for one in page.get("data", ())}
                return answer.status == 200 or worker.up
        except (aiohttp.ClientConnectorError, ConnectionError):
            return worker.up and "keeps-the-dead" in self.flaws

    async def _answers(self, worker: Worker) -> bool:
        """One small chat request, for a listing proves little."""
        if "believes-listings" in self.flaws:
            return True
        ask = {
            "model": min(worker.models),
            "messages": [{"role": "user", "content": "?"}],
            "max_tokens": 1,
        }
        limit = aiohttp.ClientTimeout(total=2)
        url = f"{worker.url}/v1/chat/completions"
        async with self._client.post(url, json=ask, timeout=limit) as answer:
            await answer.read()
            return answer.status == 200

    def _choose(self, model: str, session: str | None) -> Worker | None:
        able = [
            worker
            for worker in self.workers
            if worker.up
            and (model in worker.models or "knows-no-models" in self.flaws)
            and self._admits(worker)
        ]
        if not able:
            return None
        if session is None:
            self.turn += 1
            return able[self.turn % len(able)]
        if "hashes-sessions" in self.flaws:
            return able[zlib.crc32(session.encode()) % len(able)]
        if self.sessions.get(session) not in able:
            held = Counter(worker.url for worker in self.sessions.values())
            fewest = min(able, key=lambda worker: held[worker.url])
            self.sessions[session] = able[0] if "keeps-new-sessions-early" in self.flaws else fewest
        return self.sessions[session]

    # --- their breakers

    def _admits(self, worker: Worker) -> bool:
        rests = worker.rests_until
        return rests is None or (rests <= current().now() and not worker.probing)

    def _count(self, worker: Worker, epoch: int, status: int, *, stream: bool = False) -> None:
        """What one answer says of its worker; `status` 0 is a fault of the wire."""
        own = epoch == worker.epoch
        if own:
            worker.probing = False
        elif "late-answers-close" not in self.flaws:
            return
        counts = "counts-stream-backpressure" if stream else "counts-backpressure"
        shed = status in SHED
        bad = status == 0 or (status >= 500 and not shed)
        bad = bad or (shed and counts in self.flaws)
        bad = bad or (400 <= status < 500 and not shed and "counts-client-faults" in self.flaws)
        probe = worker.rests_until is not None
        bad = bad or (probe and own and shed and "rests-again-after-503" in self.flaws)
        if not bad:
            worker.rests_until = None
            worker.streak = worker.streak if shed and not self._forgets else 0
            return
        worker.streak += 1
        hasty = "rests-too-soon" in self.flaws
        enough = TOO_SOON if hasty else STREAK
        if "never-rests" not in self.flaws and (probe or worker.streak >= enough):
            worker.streak = 0
            worker.epoch += 1
            worker.rests_until = current().now() + (TOO_LONG if hasty else REST)

    @property
    def _forgets(self) -> bool:
        return "forgets-the-streak" in self.flaws

    # --- its answers

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.path == "/liveness":
            return web.Response()
        if request.path == "/readiness":
            ready = "always-ready" in self.flaws or any(worker.up for worker in self.workers)
            return web.Response(status=200 if ready else 503, text="" if ready else "nobody serves")
        if request.path != "/v1/chat/completions":
            return web.Response(status=404)
        body = await request.read()
        session = request.headers.get("X-Session-Id")
        worker = self._choose(json.loads(body).get("model", ""), session)
        if worker is None:
            return self._says(503, "nobody serves it now", *self.workers)
        epoch, worker.probing = worker.epoch, worker.rests_until is not None
        headers = {
            name: request.headers[name]
            for name in ("Content-Type", "X-Session-Id", "X-Request-Id")
            if name in request.headers
        }
        try:
            url = worker.url + request.path
            async with self._client.post(url, data=body, headers=headers) as answer:
                return await self._relay(worker, epoch, request, answer)
        except (aiohttp.ClientError, ConnectionError):
            self._count(worker, epoch, 0)
            worker.up = worker.up and "keeps-the-dead" in self.flaws
            return self._says(502, "the worker failed", worker)
        except asyncio.CancelledError:
            worker.probing = False
            raise

    def _says(self, status: int, text: str, *workers: Worker) -> web.Response:
        """An answer of its own."""
        if "names-addresses" in self.flaws:
            text += ": " + ", ".join(worker.url for worker in workers)
        error = {"message": text, "type": "router", "param": None, "code": str(status)}
        return web.json_response({"error": error}, status=status, headers={"Retry-After": "1"})

    async def _relay(
        self, worker: Worker, epoch: int, request: web.BaseRequest, answer: aiohttp.ClientResponse
    ) -> web.StreamResponse:
        kind = answer.headers.get("Content-Type", "text/plain")
        stream = kind.startswith("text/event-stream")
        out = web.StreamResponse(status=answer.status, headers={"Content-Type": kind})
        whole, cut = bytearray(), False
        await out.prepare(request)
        try:
            async for chunk in answer.content.iter_any():
                whole += chunk
                await out.write(chunk)
        except aiohttp.ClientPayloadError:
            cut = True
        said = self._declared(answer.status, bytes(whole))
        blind = "blind-to-cuts" in self.flaws
        self._count(worker, epoch, 0 if cut and not blind else said, stream=stream)
        if cut and "ends-cuts-cleanly" not in self.flaws:
            if request.transport is not None:
                request.transport.abort()
            return out
        if cut and stream:
            await out.write(b"data: [DONE]\n\n")
        await out.write_eof()
        return out

    def _declared(self, status: int, body: bytes) -> int:
        """The status that an answer means: that of its error object, where it has one."""
        start = body.find(b'{"error"')
        if start < 0 or (status >= 500 and "believes-every-500" in self.flaws):
            return status
        with contextlib.suppress(ValueError, TypeError, AttributeError, KeyError):
            end = body.find(b"\n", start)
            error = json.loads(body[start : end if end > 0 else None])["error"]
            return int(error["code"])
        return status
