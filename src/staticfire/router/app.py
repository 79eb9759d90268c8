"""The router: it takes requests and gives each to a worker."""

from __future__ import annotations

import asyncio
import errno

import msgspec

from staticfire import readiness, wire
from staticfire.clock import NS, current, ns
from staticfire.errors import WrongInput, did_you_mean
from staticfire.router import health
from staticfire.router.breaker import BreakerSettings
from staticfire.router.endpoints import Endpoints
from staticfire.router.errors import Failure, refuse
from staticfire.router.forward import Forwarder
from staticfire.router.metrics import Metrics
from staticfire.router.policies import POLICIES
from staticfire.router.registry import Pool, Registry
from staticfire.router.settings import Settings
from staticfire.router.worker import Worker

__all__ = ["ROUTES", "Router"]

ROUTES = frozenset(
    (
        b"/v1/chat/completions",
        b"/v1/completions",
        b"/v1/embeddings",
        b"/v1/responses",
        b"/v1/messages",
        b"/v1/rerank",
        b"/v1/score",
        b"/v1/classify",
        b"/rerank",
        b"/score",
        b"/classify",
        b"/pooling",
        b"/tokenize",
        b"/detokenize",
    )
)
"""What is forwarded: POST, with a JSON body that names its model."""


class _Named(msgspec.Struct):
    model: str | None = None


_decode = msgspec.json.Decoder(_Named).decode


class Router:
    """Runs inside any asyncio loop; after `stop` no task and no socket of it is left."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        breaker = BreakerSettings(
            settings.cb_failure_threshold,
            ns(settings.cb_timeout_duration_secs),
            enabled=not settings.disable_circuit_breaker,
        )
        unique = dict.fromkeys(wire.parse_url(url).url for url in settings.worker_urls)
        self.workers = tuple(
            Worker(f"w{place:02}", readiness.Watch(url, settings=settings.readiness), breaker)
            for place, url in enumerate(unique)
        )
        idle = ns(settings.session_idle_secs)
        self.registry = Registry(self.workers, lambda: POLICIES[settings.policy](idle))
        self.metrics = Metrics(self.workers)
        self._forwarder = Forwarder(self.registry, self.metrics, settings)
        self._endpoints = Endpoints(self.registry, self.metrics)
        self._session_header = settings.session_header.lower().encode()
        self._listener = wire.Listener(
            self._handle, self._refuse, wire.Limits(body=settings.max_payload_size)
        )
        self._scraped: wire.Listener | None = None
        self._tasks: list[asyncio.Task[None]] = []

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
        loop = asyncio.get_running_loop()
        self._tasks = [
            loop.create_task(
                health.watch(worker, self.registry, self.settings), name=f"watch {worker.id}"
            )
            for worker in self.workers
        ]

    async def stop(self, grace: float = 0.0) -> None:
        """Accept no more, let answers under way end for `grace` seconds, leave nothing."""
        await self._listener.stop(grace)
        if self._scraped is not None:
            await self._scraped.stop()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._tasks = []
        for worker in self.workers:
            worker.hang_up()
        await asyncio.sleep(0)  # the transports close their sockets in the next turn

    # -- requests

    def _refuse(self, refusal: wire.Refusal) -> tuple[tuple[wire.Header, ...], bytes]:
        headers, body = refuse(refusal)
        self.metrics.failure(dict(headers)[b"x-staticfire-error"].decode())
        return headers, body

    async def _handle(self, request: wire.Request, answer: wire.Answer) -> None:
        path = request.target.partition(b"?")[0]
        if path in ROUTES:
            if request.method == b"POST":
                await self._infer(request, answer)
            else:
                self._say(answer, _not_allowed(b"POST"))
            return
        own = self._endpoints.table.get(path)
        if own is None:
            self._say(answer, Failure(404, "not_found", f"nothing is served at {_text(path)}"))
        elif request.method in (b"GET", b"HEAD"):
            own(answer)
        else:
            self._say(answer, _not_allowed(b"GET"))

    async def _scrape(self, request: wire.Request, answer: wire.Answer) -> None:
        if request.target.partition(b"?")[0] == b"/metrics":
            self._endpoints.metrics(answer)
        else:
            self._say(answer, Failure(404, "not_found", "only /metrics is served here"))

    async def _infer(self, request: wire.Request, answer: wire.Answer) -> None:
        found = self._choose(request)
        if isinstance(found, Failure):
            self._say(answer, found)
            return
        pool, worker = found
        permit = worker.breaker.admit(current().now())
        assert permit is not None, "a candidate would have admitted"
        failure = await self._forwarder.forward(worker, permit, pool.model, request, answer)
        if failure is not None:
            self._say(answer, failure)

    def _choose(self, request: wire.Request) -> tuple[Pool, Worker] | Failure:
        model = _model_of(request.body)
        if isinstance(model, Failure):
            return model
        registry = self.registry
        if model is None:
            model = registry.sole_model()
            if model is None:
                if not registry.all_listed():
                    return _starting("no model is named and not every worker has listed its own")
                return Failure(400, "model_required", "the request names no model", "model")
        pool = registry.pool(model)
        if pool is None or not pool.workers:
            return self._nobody(model)
        now = current().now()
        candidates = [worker for worker in pool.workers if worker.breaker.would_admit(now)]
        if not candidates:
            return _resting(pool, now)
        session = request.header(self._session_header)
        name = None if session is None else session.decode("latin-1")
        return pool, pool.policy.choose(candidates, name, now)

    def _nobody(self, model: str) -> Failure:
        registry = self.registry
        if registry.knows(model):
            return Failure(
                503, "no_worker_ready", f"no worker serves {model!r} now", "model", retry_after=1
            )
        if not registry.all_listed():
            return _starting(f"not every worker has listed its models yet; {model!r} may come")
        advice = did_you_mean(model, registry.known()) if registry.known() else "there are none"
        return Failure(
            404, "model_not_found", f"no worker has the model {model!r}; {advice}", "model"
        )

    def _say(self, answer: wire.Answer, failure: Failure) -> None:
        self.metrics.failure(failure.code)
        headers = failure.headers
        if failure.status == 405:
            headers = (*headers, (b"allow", failure.message.rsplit(" ", 1)[1].encode()))
        answer.send(failure.status, headers, failure.body)


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


def _model_of(body: bytes) -> str | Failure | None:
    """The model that a JSON body names, None where it names none, or what is wrong with it.

    Only this one field is read. msgspec passes bad UTF-8 in fields that it skips, so that is
    looked at apart.
    """
    try:
        if not body.isascii():
            body.decode()
        return _decode(body).model
    except msgspec.ValidationError as error:
        return Failure(400, "invalid_request", f"the body is not a request: {error}", "model")
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return Failure(400, "invalid_json", f"the body is not JSON: {error}")
    except RecursionError:
        return Failure(400, "invalid_json", "the body is nested too deeply")


def _starting(message: str) -> Failure:
    return Failure(503, "workers_starting", message, "model", retry_after=1)


def _resting(pool: Pool, now: int) -> Failure:
    opens = [at for worker in pool.workers if (at := worker.breaker.reopens_at()) is not None]
    wait = -(-(min(opens) - now) // NS) if opens else 1
    return Failure(
        503,
        "workers_resting",
        f"every worker of {pool.model!r} rests after errors",
        "model",
        retry_after=max(1, wait),
    )


def _not_allowed(method: bytes) -> Failure:
    return Failure(405, "method_not_allowed", f"the method here is {method.decode()}")


def _text(path: bytes) -> str:
    return path.decode("latin-1")[:200]
