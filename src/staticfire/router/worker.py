"""An engine as the router sees it."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from staticfire import readiness, wire
from staticfire.errors import WrongInput, did_you_mean
from staticfire.router.breaker import Breaker, BreakerSettings
from staticfire.router.lines import Lines
from staticfire.router.standing import Standing
from staticfire.router.wedged import Shedding, Sign

if TYPE_CHECKING:
    from staticfire.router.loads import EngineLoad
    from staticfire.router.policies import Policy
    from staticfire.router.pool import Pool

__all__ = ["Worker", "WorkerSpec"]


@dataclass(frozen=True, slots=True)
class WorkerSpec:
    """A worker as it is configured. Raises WrongInput for a URL that is none."""

    url: str
    key: str | None = None
    """Sent in place of the client's credentials, and with checks."""
    priority: int = 0
    """The lowest number is asked first; the next one only when nobody of it can be asked."""
    role: str = "worker"
    """`worker`, or the leg that it plays: `prefill`, `decode`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", wire.parse_url(self.url, where="worker URL").url)
        key = self.key
        if key is not None and not (
            key.isascii() and key.isprintable() and key.strip() == key != ""
        ):
            raise WrongInput("worker key", expected="one line of printable ASCII", found="another")

    @classmethod
    def read(cls, text: str, environ: Mapping[str, str] = os.environ) -> WorkerSpec:
        """The worker in `URL priority=N key-env=NAME key-file=PATH`. Raises WrongInput."""
        where = "--worker"
        url, *words = text.split() or [""]
        found: dict[str, str] = {}
        for word in words:
            name, _, value = word.partition("=")
            if name not in _WORDS or not value:
                raise WrongInput(
                    where,
                    expected="URL priority=N key-env=NAME key-file=PATH",
                    found=repr(word),
                    do=did_you_mean(name, _WORDS),
                )
            found[name] = value
        priority = found.get("priority", "0")
        if not re.fullmatch(r"-?[0-9]{1,9}", priority):
            raise WrongInput(where, expected="priority=N", found=repr(priority))
        headers = readiness.key_headers(
            env=found.get("key-env"), file=found.get("key-file"), environ=environ
        )
        key = headers[0][1].removeprefix(b"Bearer ").decode() if headers else None
        return cls(wire.parse_url(url, where=where).url, key, int(priority))

    def __repr__(self) -> str:
        return f"WorkerSpec({self.url!r}, priority={self.priority}, role={self.role!r})"


_WORDS = ("priority", "key-env", "key-file")


class Worker:
    """A URL, its models, its state, its breaker, its connections.

    `id` is what clients may see; the URL stays in the log.
    """

    def __init__(
        self,
        name: str,
        watch: readiness.Watch,
        breaker: BreakerSettings,
        *,
        place: int = 0,
        spec: WorkerSpec | None = None,
    ) -> None:
        self.id = name
        self.place = place
        """Its place in the order of ids; never given to another."""
        spec = spec or WorkerSpec(watch.url)
        self.watch = watch
        self.address = wire.parse_url(watch.url)
        self.lines = Lines(self.address)
        self.authority = self.address.authority.encode()
        self.key = spec.key
        """Its own key, which replaces the client's credentials."""
        self.priority = spec.priority
        self.role = spec.role
        self.breaker = Breaker(breaker)
        # What follows is the registry's to write.
        self.in_flight = 0
        self.load = 0
        """What is under way there as far as is known: ours, others', and a mark-up while it sheds."""
        self.cap: int | None = None
        self.draining = False
        self.shedding = Shedding()
        self.sign = Sign.well
        self.standing = Standing.able
        self.asked_at = 0
        self.wakes_at: int | None = None
        self.penalty = 0
        self.foreign = 0
        """What its engine runs and queues besides what it has from us, as it last said."""
        self.engine: EngineLoad | None = None
        self.pools: tuple[Pool, ...] = ()
        self.tracked: tuple[Policy[Worker], ...] = ()
        self.pooled: tuple[str, ...] = ()  # the models under which it stands in pools
        self.discovered: set[str] = set()
        self.has_listed = False
        self.life: int | None = None  # the generation in which it joined the rotation last
        self._poke: asyncio.Future[None] | None = None

    @property
    def url(self) -> str:
        """Its address in the one normal form."""
        return self.address.url

    @property
    def host(self) -> str:
        """host:port, by which log lines count."""
        return self.address.authority

    @property
    def models(self) -> tuple[str, ...]:
        """What it listed last."""
        return self.watch.record.models

    @property
    def serving(self) -> bool:
        """In rotation."""
        return bool(self.pooled)

    @property
    def reason(self) -> str:
        """Why it is what it is, without its URL."""
        reason = self.watch.why
        return reason.replace(self.url, self.id).replace(self.host, self.id)

    # -- the health loop's bell

    def poke(self) -> None:
        """Check soon: a request found something out."""
        if self._poke is not None and not self._poke.done():
            self._poke.set_result(None)

    async def until_poked(self, delay: float) -> None:
        """Wait for `delay` seconds or a poke."""
        loop = asyncio.get_running_loop()
        self._poke = loop.create_future()
        timer = loop.call_later(delay, self.poke)
        try:
            await self._poke
        finally:
            timer.cancel()
            self._poke = None
