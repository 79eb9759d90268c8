"""Readiness for launchers: wait until engines serve, or be told why they do not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

from staticfire import wire
from staticfire.errors import StaticFireError
from staticfire.readiness.evidence import Evidence
from staticfire.readiness.probing import probe
from staticfire.readiness.running import run_now
from staticfire.readiness.settings import Settings
from staticfire.readiness.waiting import Change, Target, Waited, wait_for

__all__ = ["NotReady", "probe_sync", "wait_ready", "wait_ready_sync"]

T = TypeVar("T")


class NotReady(StaticFireError):
    """The time ran out; `waited` names each engine that is missing, with why."""

    def __init__(self, waited: Waited) -> None:
        self.waited = waited
        after = waited.after / 1e9
        told = "; ".join(f"{target.url}: {why}" for target, why in waited.missing)
        total = len(waited.there) + len(waited.missing)
        super().__init__(f"{len(waited.missing)} of {total} not ready after {after:.0f} s: {told}")


async def wait_ready(
    *engines: str | Target,
    model: str | None = None,
    until: str = "serving",
    at_least: int | None = None,
    timeout: float = 600.0,  # noqa: ASYNC109 - running out is told as NotReady, with who is missing
    interval: float = 1.0,
    headers: Iterable[wire.Header] = (),
    settings: Settings | None = None,
    on_change: Callable[[Change], None] | None = None,
) -> Waited:
    """Wait until every engine (or `at_least` that many) answers a request, all at the same time.

    `engines` are URLs; times are in seconds. Raises NotReady when `timeout` ran out, WrongInput
    for a URL that is none. `wait_for` does the same and returns how it ended.
    """
    waited = await wait_for(
        engines,
        until=until,
        model=model,
        at_least=at_least,
        timeout=timeout,
        interval=interval,
        headers=headers,
        settings=settings,
        on_change=on_change,
    )
    if not waited.ok:
        raise NotReady(waited)
    return waited


def wait_ready_sync(*engines: str | Target, **options: Any) -> Waited:
    """`wait_ready` for code without an event loop; the same arguments."""
    return _now(wait_ready, *engines, **options)


def probe_sync(url: str, model: str | None = None, **options: Any) -> Evidence:
    """`probe` for code without an event loop; the same arguments."""
    return _now(probe, url, model, **options)


def _now(question: Callable[..., Coroutine[Any, Any, T]], *args: Any, **options: Any) -> T:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run_now(question(*args, **options))
    name = question.__name__
    raise RuntimeError(f"{name}_sync was called inside an event loop: write `await {name}(...)`")
