"""Routers with the faults of the way through: too helpful, too trusting, or ours with one bug planted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import aiohttp
from aiohttp import web

from naive_router import NaiveRouter
from staticfire.router.outcome import Ended
from staticfire.router.relay import Relay
from staticfire.stand.routers.bundled import BundledRouter

CHAT = "/v1/chat/completions"


class MeddlesomeRouter(NaiveRouter):
    """It reads whole answers, mends what it reads, and asks again whenever something broke off."""

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.path != CHAT:
            return await super()._serve(request)
        body = await request.read()
        headers = {"Content-Type": "application/json"}
        for _ in range(5):
            with suppress(aiohttp.ClientError, ConnectionError):
                worker = next((one for one in self.workers if one.up), None)
                if worker is None:
                    break
                url = worker.url + CHAT
                async with self._client.post(url, data=body, headers=headers) as answer:
                    return self._mended(body, await answer.read())
        return web.Response(status=500)

    def _mended(self, body: bytes, whole: bytes) -> web.Response:
        if b'"stream": true' in body or b'"stream":true' in body:
            whole = whole.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            events = [event for event in whole.split(b"\n\n") if b'"error"' not in event]
            kind = {"Content-Type": "text/event-stream"}
            return web.Response(body=b"\n\n".join(events), headers=kind)
        try:
            return web.json_response(json.loads(whole))
        except ValueError:
            return web.Response(status=500, text="the worker's answer is no JSON")


class TrustingRouter(NaiveRouter):
    """It keeps a connection to its worker and never looks whether that is still there."""

    async def start(self) -> None:
        await super().start()
        self._kept: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def stop(self) -> None:
        if self._kept is not None:
            self._kept[1].close()
        await super().stop()

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.path != CHAT:
            return await super()._serve(request)
        body = await request.read()
        host, _, port = self.workers[0].url.removeprefix("http://").rpartition(":")
        if self._kept is None:
            self._kept = await asyncio.open_connection(host, int(port))
        reader, writer = self._kept
        head = f"POST {CHAT} HTTP/1.1\r\nhost: w\r\ncontent-type: application/json\r\n"
        try:
            writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
            lines = (await reader.readuntil(b"\r\n\r\n")).lower().split(b"\r\n")
            length = next(line for line in lines if line.startswith(b"content-length:"))
            whole = await reader.readexactly(int(length[15:]))
        except (ConnectionError, asyncio.IncompleteReadError):
            return web.Response(status=500, text="the worker went away")
        return web.Response(body=whole, headers={"Content-Type": "application/json"})


class LooseRouter(NaiveRouter):
    """It finds the end of a request by its length alone, and finds every request good."""

    stands_for_ours = True

    async def start(self) -> None:
        self._open: set[asyncio.StreamWriter] = set()
        self._loose = await asyncio.start_server(self._read, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._loose.sockets[0].getsockname()[1]}"

    async def stop(self) -> None:
        self._loose.close()
        for writer in self._open:
            writer.close()
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    async def _read(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                lines = (await reader.readuntil(b"\r\n\r\n")).lower().split(b"\r\n")
                sizes = [line[15:] for line in lines if line.startswith(b"content-length:")]
                await reader.readexactly(max(0, int(sizes[0])) if sizes else 0)
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
        writer.close()


def planted(**bug: Any) -> type[BundledRouter]:
    """Ours with settings that no scenario can change."""

    class Planted(BundledRouter):
        def __init__(self, workers: Sequence[str], settings: Mapping[str, Any]) -> None:
            super().__init__(workers, {**settings, **bug})

    return Planted


NeverRetries = planted(disable_retries=True)
WaitsForEver = planted(head_timeout_secs=1e6)


class Muddles(planted(abort_path=None, total_timeout_secs=0.0)):  # type: ignore[misc]
    """Ours with four bugs planted, each seen by a promise of its own.

    Whatever ends an answer early is the worker's fault; silence, error events and cuts are the same
    to it; nobody is told that a client left; a limit on the whole request is none.
    """

    def __init__(self, workers: Sequence[str], settings: Mapping[str, Any]) -> None:
        super().__init__(workers, settings)
        dispatcher = self.router._dispatcher
        dispatcher._relay = Muddled(self.router.metrics, self.router.settings)
        chooser = self.router._dispatcher._chooser
        honest = chooser.choose

        def choose(*args: Any) -> Any:
            attempt = honest(*args)
            settle = getattr(attempt, "settle", None)
            return attempt if settle is None else Blamed(attempt)

        chooser.choose = choose  # type: ignore[method-assign, assignment]


class Blamed:
    """An attempt that calls a leaver a cut."""

    def __init__(self, attempt: Any) -> None:
        self.__dict__["attempt"] = attempt

    def __getattr__(self, name: str) -> Any:
        return getattr(self.attempt, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.attempt, name, value)

    def settle(self, ended: Ended) -> None:
        self.attempt.settle(Ended("cut") if ended.how == "cancelled" else ended)


class Muddled(Relay):
    """A relay that knows one word for how streams end."""

    async def _carry(self, *args: Any) -> str:
        end = await super()._carry(*args)
        return (
            "ok"
            if end in ("stream_error_event", "protocol_violation")
            else end.replace("idle_timeout", "upstream_error")
        )


class StopsAtOnce(BundledRouter):
    """Ours with a planted bug: SIGTERM ends everything."""

    async def drain(self) -> None:
        await self.router.stop()


class StaysReady(BundledRouter):
    """Ours with a planted bug: it says that it is ready until it is gone, and waits for ever."""

    async def drain(self) -> None:
        await self.router.stop(1e6)


class Grudging(BundledRouter):
    """Ours with a planted bug: a breaker that opens once rests its worker for an hour."""

    def __init__(self, workers: Sequence[str], settings: Mapping[str, Any]) -> None:
        super().__init__(workers, {**settings, "cb_timeout_duration_secs": 3600.0})
