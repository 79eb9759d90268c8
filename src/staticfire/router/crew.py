"""The workers that are configured, each with one task that watches it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import count

from staticfire import readiness
from staticfire.clock import current, ns
from staticfire.errors import WrongInput
from staticfire.router import health
from staticfire.router.breaker import BreakerSettings
from staticfire.router.legs_settings import leg
from staticfire.router.registry import Registry
from staticfire.router.settings import Settings
from staticfire.router.worker import Worker, WorkerSpec

__all__ = ["Crew"]

log = logging.getLogger("staticfire.router")


class Crew:
    """Adds and removes workers, before the start and while requests run.

    A URL stands for one worker, and a worker keeps its id, its state and its connections as long
    as its URL is configured. An id is never given to another worker.
    """

    def __init__(
        self, registry: Registry, settings: Settings, on_gone: Callable[[Worker], None]
    ) -> None:
        self._registry = registry
        self._settings = settings
        self._on_gone = on_gone
        self._breaker = BreakerSettings(
            settings.cb_failure_threshold,
            ns(settings.cb_timeout_duration_secs),
            enabled=not settings.disable_circuit_breaker,
        )
        self._places = count()
        self._by_url: dict[tuple[str, str], Worker] = {}
        self._watches: dict[Worker, asyncio.Task[None]] = {}
        self._leaving: set[asyncio.Task[None]] = set()
        self._retired: set[Worker] = set()
        self._running = False
        for spec in configured(settings):
            if (spec.role, spec.url) not in self._by_url:
                self.add(spec)

    def add(self, spec: WorkerSpec) -> Worker:
        """A worker more. Raises WrongInput for a URL that is configured already."""
        known = self.find(spec)
        if known is not None:
            raise WrongInput(
                "worker URL", expected="a URL that is no worker yet", found=f"that of {known.id}"
            )
        place = next(self._places)
        headers = () if spec.key is None else ((b"authorization", b"Bearer " + spec.key.encode()),)
        watch = readiness.Watch(spec.url, settings=self._settings.readiness, headers=headers)
        worker = Worker(f"w{place:02}", watch, self._breaker, place=place, spec=spec)
        worker.lines.keepalive = self._settings.upstream_keepalive_secs
        worker.cap = self._settings.worker_max_requests
        self._by_url[spec.role, spec.url] = worker
        self._registry.add(worker)
        if self._running:
            log.info("%s is added", worker.id)
            log.debug("%s is %s", worker.id, worker.url)
            self._begin(worker)
        return worker

    def find(self, spec: WorkerSpec) -> Worker | None:
        """The worker that has the URL already."""
        return self._by_url.get((spec.role, spec.url))

    def remove(self, worker: Worker) -> None:
        """A worker less: nothing new reaches it, requests under way end, checks stop."""
        del self._by_url[worker.role, worker.url]
        self._registry.remove(worker, current().now())
        log.info("%s is removed", worker.id)
        watch = self._watches.pop(worker, None)
        if watch is not None:
            watch.cancel()
            self._leaving.add(watch)
            watch.add_done_callback(self._leaving.discard)
        worker.lines.retire()
        self._retired = {one for one in self._retired if one.lines.all} | {worker}
        self._on_gone(worker)

    def replace(self, specs: Iterable[WorkerSpec]) -> None:
        """These and nobody else: whoever is configured stays as it is, its state with it."""
        wanted = {(spec.role, spec.url): spec for spec in specs}
        for name, worker in tuple(self._by_url.items()):
            if name not in wanted:
                self.remove(worker)
        for name, spec in wanted.items():
            if name not in self._by_url:
                self.add(spec)

    def start(self) -> None:
        """Begin to watch."""
        self._running = True
        for worker in self._registry.workers:
            self._begin(worker)

    async def stop(self) -> None:
        """No task and no connection is left."""
        self._running = False
        tasks = [*self._watches.values(), *self._leaving]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        self._watches.clear()
        for worker in (*self._registry.workers, *self._retired):
            worker.lines.hang_up()

    def _begin(self, worker: Worker) -> None:
        self._watches[worker] = asyncio.get_running_loop().create_task(
            health.watch(worker, self._registry, self._settings), name=f"watch {worker.id}"
        )


def configured(settings: Settings) -> list[WorkerSpec]:
    """The workers of the settings; those without a key of their own get the default one."""
    specs = [WorkerSpec(url) for url in settings.worker_urls]
    specs += [WorkerSpec.read(row) if isinstance(row, str) else row for row in settings.worker]
    specs += [WorkerSpec(leg(one, "--prefill").url, role="prefill") for one in settings.prefill]
    specs += [WorkerSpec(leg(one, "--decode").url, role="decode") for one in settings.decode]
    key = settings.default_key
    return [spec if spec.key is not None else replace(spec, key=key) for spec in specs]
