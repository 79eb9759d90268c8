"""The fleet, told and changed: `/workers`."""

from __future__ import annotations

from typing import Any

import msgspec

from staticfire.clock import NS, current
from staticfire.errors import WrongInput
from staticfire.router.access import Access
from staticfire.router.crew import Crew
from staticfire.router.errors import Failure
from staticfire.router.registry import Registry
from staticfire.router.worker import Worker, WorkerSpec
from staticfire.wire import Request

__all__ = ["WORKERS", "Admin", "Told"]

WORKERS = b"/workers"

Told = tuple[int, dict[str, Any]]


class _New(msgspec.Struct, forbid_unknown_fields=True):
    url: str
    api_key: str | None = None
    priority: int = 0


class _Change(msgspec.Struct, forbid_unknown_fields=True):
    draining: bool


class _Fleet(msgspec.Struct, forbid_unknown_fields=True):
    workers: list[_New]


class Admin:
    """Who is configured, for everybody who may ask; and whoever may change that does it here.

    Everything takes hold before the answer is sent. Whether a new worker serves shows later: it is
    checked like any other.
    """

    def __init__(self, registry: Registry, crew: Crew, access: Access) -> None:
        self._registry = registry
        self._crew = crew
        self._access = access

    def handle(self, path: bytes, request: Request, peer: str) -> Told | Failure:
        """Status and body, or what is wrong."""
        method = request.method
        name = path[len(WORKERS) + 1 :].decode("latin-1")
        worker = self._registry.worker(name) if name else None
        denied = self._access.not_admin(request, peer)
        if method in (b"GET", b"HEAD"):
            refused = self._access.refused(path, request, (path,))
            if refused is not None:
                return refused
        elif method not in (_ON_ONE if name else _ON_ALL):
            return _not_allowed(_ON_ONE if name else _ON_ALL)
        elif denied is not None:
            return denied
        if name and worker is None:
            return Failure(404, "worker_not_found", f"no worker {name[:80]!r}")
        if method in (b"GET", b"HEAD"):
            if worker is not None:
                return 200, shown(worker, url=denied is None)
            rows = [shown(one, url=denied is None) for one in self._registry.workers]
            return 200, {"workers": rows}
        try:
            return self._change(method, worker, request.body)
        except WrongInput as wrong:
            return Failure(400, "invalid_request", str(wrong))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            return Failure(400, "invalid_request", f"the body does not fit: {error}")

    def _change(self, method: bytes, worker: Worker | None, body: bytes) -> Told | Failure:
        if method == b"POST":
            spec = _spec(msgspec.json.decode(body, type=_New))
            known = self._crew.find(spec)
            if known is not None:
                return Failure(409, "worker_exists", f"that URL is worker {known.id}", "url")
            return 202, shown(self._crew.add(spec), url=True)
        if method == b"PUT":
            fleet = msgspec.json.decode(body, type=_Fleet)
            self._crew.replace([_spec(one) for one in fleet.workers])
            return 200, {"workers": [shown(one, url=True) for one in self._registry.workers]}
        assert worker is not None
        if method == b"PATCH":
            change = msgspec.json.decode(body, type=_Change)
            self._registry.ledger.drain(worker, current().now(), draining=change.draining)
        else:
            self._crew.remove(worker)
        return 200, shown(worker, url=True)


_ON_ALL = (b"POST", b"PUT")
_ON_ONE = (b"PATCH", b"DELETE")


def _not_allowed(methods: tuple[bytes, ...]) -> Failure:
    allowed = b", ".join((b"GET", b"HEAD", *methods))
    message = f"the methods here are {allowed.decode()}"
    return Failure(405, "method_not_allowed", message, more=((b"allow", allowed),))


def _spec(new: _New) -> WorkerSpec:
    return WorkerSpec(new.url, new.api_key, new.priority)


def shown(worker: Worker, *, url: bool) -> dict[str, Any]:
    """What is told of a worker; its address only to who may change the fleet, its key to nobody."""
    record = worker.watch.record
    evidence = record.evidence
    engine = worker.engine
    return {
        "id": worker.id,
        **({"url": worker.url} if url else {}),
        "models": worker.models,
        "serving": worker.serving,
        "status": record.status.value,
        "verdict": record.verdict,
        "reason": worker.reason,
        "evidence_age_secs": None if evidence is None else _age(evidence.at),
        "generation": record.generation,
        "breaker": str(worker.breaker.state),
        "standing": worker.standing.value,
        "sign": worker.sign.value,
        "draining": worker.draining,
        "priority": worker.priority,
        "role": worker.role,
        "in_flight": worker.in_flight,
        "load": worker.load,
        "engine": None if engine is None else msgspec.to_builtins(engine),
    }


def _age(at: int) -> float:
    return round((current().now() - at) / NS, 3)
