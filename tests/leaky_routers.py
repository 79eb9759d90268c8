"""Routers with the faults of the front: no line, loose keys, loose headers, metrics not kept up."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from aiohttp import web

from flawed_routers import planted
from naive_router import NaiveRouter
from staticfire.router.access import Access
from staticfire.router.outcome import Outcome

CHAT = "/v1/chat/completions"


class Rewrites(NaiveRouter):
    """It reads every request and writes it anew, in chunks, as typed frameworks do."""

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.path != CHAT:
            return await super()._serve(request)
        url = self.workers[0].url + CHAT
        body = json.dumps(self._read(json.loads(await request.read()))).encode()

        async def pieces() -> AsyncIterator[bytes]:
            yield body

        kind = {"Content-Type": "application/json"}
        async with self._client.post(url, data=pieces(), headers=kind) as answer:
            return web.Response(status=answer.status, body=await answer.read(), headers=kind)

    def _read(self, asked: dict[str, Any]) -> dict[str, Any]:
        return asked


class KnowsFields(Rewrites):
    """It writes only the fields that it has a type for."""

    def _read(self, asked: dict[str, Any]) -> dict[str, Any]:
        return {name: asked[name] for name in ("model", "messages", "stream") if name in asked}


class TellsAddresses(planted()):  # type: ignore[misc]
    """Its log says where the workers are."""

    async def start(self) -> None:
        await super().start()
        for worker in self.router.workers:
            logging.getLogger("staticfire.router").info("%s is %s", worker.id, worker.url)


class Overruns(planted(worker_max_requests=None)):  # type: ignore[misc]
    """Ours with four bugs planted, each seen by a promise of its own.

    The slot of a client that left is never given back, workers have no cap, an engine's own error
    looks like one of ours, and where nobody is home the client hears that it asks too much.
    """

    def __init__(self, workers: Sequence[str], settings: Mapping[str, Any]) -> None:
        super().__init__(workers, settings)
        router: Any = self.router
        infer, leave, to_client = router._infer, router._door.leave, router._headers.to_client

        async def leaky(passage: Any, answer: Any) -> Any:
            found = await infer(passage, answer)
            leave()  # not in a `finally`
            return found

        router._door.leave = lambda: None
        router._infer = leaky
        mark = (b"x-staticfire-error", b"upstream")
        router._headers.to_client = lambda *args: [*to_client(*args), mark]
        say = router._say

        def busy(answer: Any, failure: Any, *more: Any) -> None:
            say(answer, replace(failure, status=429) if failure.status == 503 else failure, *more)

        router._say = busy


class MiscountsAll(TellsAddresses):
    """Ours with its metrics broken.

    What happens is not counted or counted as a success, what is gone is not forgotten, every path
    that is asked for is a label; and the log says where the workers are.
    """

    def __init__(self, workers: Sequence[str], settings: Mapping[str, Any]) -> None:
        super().__init__(workers, settings)
        metrics: Any = self.router.metrics
        count, arrived = metrics.attempt, metrics.arrived
        metrics.attempt = lambda worker, model, _: count(worker, model, Outcome.success)

        def label(path: bytes) -> None:
            metrics._routes[path] = path.decode()
            arrived(path)

        metrics.arrived = label
        for name in ("answered", "moved", "passed", "admission", "forget"):
            setattr(metrics, name, lambda *_: None)
        metrics._gauges.clear()


class ForgetsWho(planted(forward_headers=("x-*",))):  # type: ignore[misc]
    """Ours with loose headers: all x-… pass, ids are all one, nothing says id or worker."""

    def __init__(self, workers: Sequence[str], settings: Mapping[str, Any]) -> None:
        super().__init__(workers, settings)
        router: Any = self.router
        to_client, say = router._headers.to_client, router._say
        ours = (b"x-staticfire-worker", b"x-staticfire-attempts")
        router._headers._ident = lambda _: b"one-and-only"
        router._headers.to_client = lambda *args: [
            header for header in to_client(*args) if header[0] not in ours
        ]
        router._say = lambda answer, failure, *_: say(answer, failure)


class StandsOpen(TellsAddresses):
    """Ours without its locks.

    Nobody is asked for a key, everybody may change the fleet, each worker gets the key of the
    configured ones; and the log says where the workers are.
    """

    def __init__(self, workers: Sequence[str], settings: Mapping[str, Any]) -> None:
        super().__init__(workers, settings)
        router: Any = self.router
        key, took = settings.get("worker_api_key"), router.registry.ledger.took

        class Open(Access):
            def not_admin(self, *_: Any) -> None:
                return None

        def handed(worker: Any, now: int) -> None:
            worker.key = key
            took(worker, now)

        router._access = router._admin._access = Open()
        router.registry.ledger.took = handed
