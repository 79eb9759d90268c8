"""One request of proof, looked after while it is slow.

An answer that takes longer than a moment may be a hang, a slow first token, a queue of users, or
an engine that sleeps. The engine's own account tells them apart while the answer is waited for:

| the account says        | what is done                                                     |
|-------------------------|------------------------------------------------------------------|
| asleep or paused        | the request is ended at once; the evidence says so                 |
| a queue that moves      | a watch waits on, up to `probe_budget`; busy when nothing came     |
| requests run, none wait | a watch waits on, up to `probe_budget`: ours may be one of them    |
| nothing runs            | the deadline stands                                               |
| nothing                 | the deadline stands; after two that hung a watch doubles the next |
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from staticfire import wire
from staticfire.clock import NS, current
from staticfire.readiness import listing
from staticfire.readiness.account import Account, Load
from staticfire.readiness.evidence import Evidence
from staticfire.readiness.exchange import Deadline, Line
from staticfire.readiness.questions import Engine, ask_chat, ask_models
from staticfire.readiness.settings import Settings
from staticfire.readiness.verdict import Verdict

__all__ = ["account_of", "probe", "prove"]


def account_of(engine: Engine) -> Account:
    """Who asks the engine for accounts."""
    return Account(engine.address, engine.headers, engine.settings.body_limit)


@dataclass(slots=True)
class _Attendant:
    """Looks after one request that is slow: now, and shortly before each deadline."""

    account: Account
    deadline: Deadline
    last: int
    generation: int
    settings: Settings
    on_stretch: Callable[[int], object] | None = None
    load: Load | None = None

    async def attend(self) -> None:
        limits, clock = self.settings.limits, current()
        load = await self._look(clock.now())
        while load.said and not load.paused:
            ends = self.deadline.at
            if ends - limits.look_after > clock.now():
                load = await self._look(ends - limits.look_after)
            if not load.works or ends >= self.last:
                return
            further = min(ends + limits.probe_deadline, self.last)
            self.deadline.move(further)
            if self.on_stretch is not None:
                self.on_stretch(further)

    async def _look(self, at: int) -> Load:
        await _until(at)
        soon = current().now() + self.settings.limits.listing_deadline
        load = self.load = await self.account.ask(
            deadline=min(soon, self.deadline.at), generation=self.generation
        )
        if load.paused:
            self.deadline.move(current().now())
        return load


async def _until(at: int) -> None:
    await asyncio.sleep(max(0, at - current().now()) / NS)


@asynccontextmanager
async def _attended(attendant: _Attendant, began: int) -> AsyncIterator[None]:
    """Looks after what is asked within, from `look_after` on: most answers need no looks at all."""
    looks: list[asyncio.Task[None]] = []
    after = attendant.settings.limits.look_after
    if began + after >= attendant.deadline.at:
        yield
        return
    timer = asyncio.get_running_loop().call_later(
        after / NS, lambda: looks.append(asyncio.create_task(attendant.attend(), name="attend"))
    )
    try:
        yield
    finally:
        timer.cancel()
        for look in looks:
            look.cancel()
        if looks:
            await asyncio.gather(*looks, return_exceptions=True)


async def prove(
    engine: Engine,
    model: str,
    account: Account,
    *,
    deadline: int,
    last: int | None = None,
    entry: listing.Listed | None = None,
    generation: int = 1,
    on_stretch: Callable[[int], object] | None = None,
    line: Line | None = None,
) -> Evidence:
    """Ask the model, and find out why when it is slow. Instants in nanoseconds.

    The deadline may move up to `last`; `on_stretch` is told the new one before it is waited for.
    """
    began = current().now()
    moving = Deadline(deadline)
    attendant = _Attendant(
        account, moving, deadline if last is None else last, generation, engine.settings, on_stretch
    )
    async with _attended(attendant, began):
        evidence = await ask_chat(
            engine, model, deadline=moving, entry=entry, generation=generation, line=line
        )
    load = attendant.load
    if not evidence.hung or entry is None or load is None:
        return evidence
    said = load.evidence(generation, began, model)
    if said is None:  # whoever gives an account and does nothing will not be quicker next time
        return replace(evidence, hung=not load.said)
    return replace(
        evidence, verdict=said.verdict, reason=said.reason, paused=said.paused, hung=False
    )


async def probe(
    url: str,
    model: str | None = None,
    *,
    deadline: float = 8.0,
    accept: str = "proven",
    kind: str = "auto",
    headers: Iterable[wire.Header] = (),
    settings: Settings | None = None,
) -> Evidence:
    """One readiness check of one engine, in full: its list, then one request to the model.

    `deadline` in seconds is over all of it; the list takes no more than its own 2 s of that.
    Without a `model` the first listed one is asked. `kind` is auto, chat, completion or
    embeddings. Raises WrongInput for a URL that is none.
    A list that hangs or breaks does not decide when the model is known; its chat does.
    """
    base = settings if settings is not None else Settings()
    settings = replace(base, probe_deadline=deadline, accept=accept, kind=kind)
    engine = Engine(wire.parse_url(url), tuple(headers), settings)
    now = current().now()
    limits = settings.limits
    end = now + limits.probe_deadline
    found = await ask_models(engine, model, deadline=min(end, now + limits.listing_deadline))
    listed = found.evidence
    asked = listed.model
    unlisted = listed.named is False and accept == "answered"
    hidden = listed.named is None and listed.verdict is Verdict.BROKEN
    if asked is None or not (found.entry is not None or unlisted or hidden):
        return listed
    if current().now() >= end:
        return listed
    answer = await prove(engine, asked, account_of(engine), deadline=end, entry=found.entry)
    return replace(answer, models=listed.models, began=listed.began)
