"""The router: it takes requests and gives each to a worker."""

from __future__ import annotations

import asyncio
import errno
from typing import Any

import msgspec

from staticfire import wire
from staticfire.clock import current, ns
from staticfire.errors import WrongInput
from staticfire.router.aborts import Aborter
from staticfire.router.access import ROUTES, Access, path_of
from staticfire.router.admin import WORKERS, Admin
from staticfire.router.admission import Door
from staticfire.router.attempt import Attempt
from staticfire.router.choose import Chooser
from staticfire.router.crew import Crew
from staticfire.router.crowd import Crowd
from staticfire.router.dispatch import Dispatcher
from staticfire.router.endpoints import Endpoints
from staticfire.router.errors import Failure, refuse
from staticfire.router.forward import Forwarder
from staticfire.router.headers import Headers
from staticfire.router.legs import Pair, Pairs
from staticfire.router.logs import Requests, Which
from staticfire.router.metrics import Metrics
from staticfire.router.passage import Passage
from staticfire.router.relay import Relay
from staticfire.router.routing import reader_of, registry_of
from staticfire.router.settings import Settings
from staticfire.router.worker import Worker

__all__ = ["Router"]

_JSON = ((b"content-type", b"application/json"),)


class Router:
    """Runs inside any asyncio loop; after `stop` no task and no socket of it is left."""

    def __init__(self, settings: Settings, *, log_requests: Which = "none") -> None:
        self.settings = settings
        self.registry = registry_of(settings)
        self.metrics = Metrics(lambda: self.registry.workers)
        self.registry.ledger.on_moved = self.metrics.moved
        most = settings.max_concurrent_requests
        self._door = Door(
            None if most < 0 else most,
            settings.queue_size,
            ns(settings.queue_timeout_secs),
            self.metrics,
        )
        self._requests = Requests(log_requests)
        self._access = Access(settings.api_keys, settings.admin_api_keys)
        chooser = Chooser(self.registry, self.metrics, settings)
        self._headers = Headers(
            forward=settings.forward_headers,
            session=settings.session_header,
            id_names=settings.request_id_headers,
            keep_credentials=not settings.api_keys,
        )
        self._aborter = Aborter(settings.abort_path)
        forwarder = Forwarder(self.registry, self._headers, settings, self._aborter)
        self._forwarder = forwarder
        relay = Relay(self.metrics, settings)
        self._pairs = Pairs(chooser, forwarder, settings) if settings.pd_disaggregation else None
        self._crowd: Crowd[Any] = Crowd(
            settings.queue_size, ns(settings.queue_timeout_secs), self.metrics
        )
        self.registry.ledger.on_free = lambda worker: self._crowd.freed(set(worker.pooled))
        rest = relay, self._headers, self.metrics, settings, self._crowd
        self._dispatcher: Dispatcher[Attempt | Pair] | Dispatcher[Attempt]
        if self._pairs is None:
            self._dispatcher = Dispatcher[Attempt](chooser, forwarder, *rest)
        else:
            self._dispatcher = Dispatcher[Attempt | Pair](self._pairs, self._pairs, *rest)
        self._endpoints = Endpoints(self.registry, self.metrics)
        self.metrics.routes((*ROUTES, *self._endpoints.table, WORKERS))
        line, crowd = self._door.line, self._crowd
        self.metrics.gauge("staticfire_requests_admitted", "Slots taken.", lambda: line.running)
        self.metrics.gauge(
            "staticfire_queue_waiting", "Requests in line.", lambda: line.waiting + crowd.waiting
        )
        self._reader = reader_of(settings)
        self.crew = Crew(self.registry, settings, lambda worker: self.metrics.forget(worker.id))
        self._admin = Admin(self.registry, self.crew, self._access)
        self._listener = wire.Listener(
            self._handle,
            self._refuse,
            wire.Limits(
                body=settings.max_payload_size,
                head_time=settings.head_timeout_secs,
                body_time=settings.body_timeout_secs,
            ),
        )
        self._scraped: wire.Listener | None = None

    @property
    def workers(self) -> tuple[Worker, ...]:
        """Every worker that is configured now."""
        return self.registry.workers

    @property
    def port(self) -> int:
        """The port it listens on."""
        return self._listener.port

    @property
    def url(self) -> str:
        """Its base URL."""
        host = f"[{self._listener.host}]" if ":" in self._listener.host else self._listener.host
        return f"http://{host}:{self.port}"

    async def start(self) -> None:
        """Bind and begin to watch the workers. Raises WrongInput when the port cannot be had."""
        settings = self.settings
        await _bind(self._listener, "--port", settings.host, settings.port)
        if settings.prometheus_port is not None:
            self._scraped = wire.Listener(self._scrape, self._refuse)
            try:
                await _bind(
                    self._scraped, "--prometheus-port", settings.host, settings.prometheus_port
                )
            except WrongInput:
                await self._listener.stop()
                raise
        self.crew.start()

    async def drain(self) -> None:
        """As SIGTERM asks: not ready at once, closed a moment later, answers under way end."""
        self._endpoints.draining = True
        await asyncio.sleep(self.settings.shutdown_delay_secs)
        await self.stop(self.settings.shutdown_grace_period_secs)

    async def stop(self, grace: float = 0.0) -> None:
        """Accept no more, let answers under way end for `grace` seconds, leave nothing."""
        await self._listener.stop(grace)
        if self._scraped is not None:
            await self._scraped.stop()
        if self._pairs is not None:
            await self._pairs.stop()
        self._crowd.stop()
        self._forwarder.stop()
        await self._aborter.stop()
        await self.crew.stop()
        await asyncio.sleep(0)  # the transports close their sockets in the next turn

    # -- requests

    def _refuse(self, refusal: wire.Refusal) -> tuple[tuple[wire.Header, ...], bytes]:
        headers, body = refuse(refusal)
        self.metrics.failure(dict(headers)[b"x-staticfire-error"].decode())
        return headers, body

    async def _handle(self, request: wire.Request, answer: wire.Answer) -> None:
        path = path_of(request)
        self.metrics.arrived(path)
        if self._endpoints.draining:
            answer.last()  # so that its client goes elsewhere before nobody listens here
        try:
            if path in ROUTES:
                await self._pass(path, request, answer)
            else:
                await self._tell(path, request, answer)
        finally:
            self.metrics.answered(path, answer.status)

    async def _tell(self, path: bytes, request: wire.Request, answer: wire.Answer) -> None:
        """What the router knows by itself."""
        if path == WORKERS or path.startswith(WORKERS + b"/"):
            found = self._admin.handle(path, request, answer.peer)
            if isinstance(found, Failure):
                self._say(answer, found)
            else:
                answer.send(found[0], _JSON, msgspec.json.encode(found[1]))
            return
        own = self._endpoints.table
        failure = self._access.refused(path, request, own)
        if failure is not None:
            self._say(answer, failure)
            return
        later = own[path](answer)
        if later is not None:
            await later

    async def _scrape(self, request: wire.Request, answer: wire.Answer) -> None:
        if path_of(request) == b"/metrics":
            await self._endpoints.metrics(answer)
        else:
            self._say(answer, Failure(404, "not_found", "only /metrics is served here"))

    async def _pass(self, path: bytes, request: wire.Request, answer: wire.Answer) -> None:
        """What a worker is asked for."""
        clock = current()
        passage = self._headers.passage(request, path, clock.now())
        failure: Failure | None = None
        try:
            failure = self._access.refused(path, request, ())
            if failure is None:
                failure = await self._infer(passage, answer)
            if failure is not None:
                self._say(answer, failure, (b"x-request-id", passage.id))
        finally:
            now = clock.now()
            self.metrics.passed(passage, now)
            self._requests.ended(passage, answer, now, "" if failure is None else failure.code)

    async def _infer(self, passage: Passage, answer: wire.Answer) -> Failure | None:
        what = self._reader.read(passage.request, passage.route)
        if isinstance(what, Failure):
            return what
        passage.stream = what.stream
        if not self._door.step_in():
            full = await self._door.enter()
            if full is not None:
                return full
            passage.admitted = current().now()
        try:
            return await self._dispatcher.dispatch(what, passage, answer)
        finally:
            self._door.leave()

    def _say(self, answer: wire.Answer, failure: Failure, *more: wire.Header) -> None:
        self.metrics.failure(failure.code)
        answer.send(failure.status, (*failure.headers, *more), failure.body)


async def _bind(listener: wire.Listener, flag: str, host: str, port: int) -> None:
    try:
        await listener.start(host, port)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise WrongInput(
                flag,
                expected="a free port",
                found=f"{host}:{port} in use",
                do="stop what listens there, or choose another port (0 for any)",
            ) from error
        raise WrongInput(
            "--host",
            expected="an address to bind",
            found=f"{host}:{port} ({(error.strerror or str(error)).lower()})",
        ) from error
