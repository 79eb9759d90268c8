"""A mock engine: one script, one port, all its lives."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from email.utils import formatdate
from typing import Any, Self, cast

from aiohttp import web

from staticfire.clock import current, ns
from staticfire.engine.actions import Action, Head, Headers
from staticfire.engine.ask import INFERENCE, Ask
from staticfire.engine.capacity import Slots
from staticfire.engine.faults import Fault, Honest, fault_name
from staticfire.engine.handlers import handler
from staticfire.engine.holds import Hold
from staticfire.engine.identity import Identity
from staticfire.engine.journal import Entry, Journal
from staticfire.engine.lifetime import Lifetime
from staticfire.engine.personalities.base import Personality, personality
from staticfire.engine.phases import Accepting, Dead, Phase, Sleeping
from staticfire.engine.player import Player, Stats
from staticfire.engine.port import Port
from staticfire.engine.rules import Rules
from staticfire.engine.script import Rule, Script
from staticfire.engine.tap import Tap
from staticfire.engine.transport import TapTransport
from staticfire.engine.web import CLOSE, KEEP, Answered, connection, replayed, server

__all__ = ["MockEngine"]


class MockEngine:
    """An inference server that does what its script says.

    It owns its port from `start` to `stop`, through every life; phases and a script's rules count
    from the start. Everything that looks random comes from `seed` and `name`: two engines with the
    same script, name and seed answer the same requests with the same bytes, dates aside.
    """

    def __init__(
        self,
        script: Script | None = None,
        *,
        name: str = "engine",
        seed: int = 0,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        self.script = script if script is not None else Script()
        self.name, self.seed = name, seed
        self.identity = Identity.of(name, seed)
        self.personality: Personality = personality(self.script.personality)
        self.idle = ns(self.personality.idle)
        self.journal = Journal()
        self.stats = Stats()
        self.slots = Slots(self.script.capacity)
        self.clock = current()
        self.connections = 0
        self.tasks = 0
        self.errors: list[BaseException] = []
        """What handlers and faults of the user raised; each was answered 500."""
        self._life = Lifetime(self.clock, Port(host, port), self.journal)
        self._rules = Rules()
        self._numbers = 0
        self._web: web.Server | None = None
        self._gone: asyncio.Future[None] | None = None
        self._dated = (-1, b"")

    def __repr__(self) -> str:
        return f"<MockEngine {self.name} on {self.url}>"

    # --- its life

    async def start(self) -> Self:
        """Own the port and begin the life; raises `WrongInput` when the port is in use."""
        self.clock = self._life.clock = current()
        self._life.port.own()
        self._web = server(self._handle)
        self._life.tap = self._tap
        self.journal.started = self.clock.now()
        self.journal.note(self.clock.now(), 0, "starts")
        self._rules = Rules.of(self.script.rules, self.clock.now())
        self._life.live(self.script.life)
        return self

    async def stop(self) -> None:
        """End every connection, give the port back, leave no task and no socket."""
        if self._web is None:
            return
        self.journal.note(self.clock.now(), 0, "stops")
        self._life.end()
        if self.taps or self.tasks:
            self._gone = asyncio.get_running_loop().create_future()
            await self._gone
        self._web = None

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    def run(self, *life: Phase) -> None:
        """Replace the rest of the life: these phases begin now."""
        self._life.live(life)

    def kill(self, *, reset: bool = False) -> None:
        """The process is gone at this instant; with `reset` its connections end by RST."""
        self.run(Dead(reset=reset))

    def restart(self, script: Script | None = None) -> None:
        """A new life on the same port, from the beginning of the script (another one if given).

        A living engine is killed first. Rules of the script count anew, others are gone.
        """
        self.kill()
        if script is not None:
            self.script = script
            self.personality = personality(script.personality)
            self.idle = ns(self.personality.idle)
        self.slots = Slots(self.script.capacity)
        self.stats = Stats()
        self._life.refresh()
        self._rules = Rules.of(self.script.rules, self.clock.now())
        self._life.live(self.script.life)

    def phase(self) -> Phase:
        """The phase at this instant."""
        return self._life.phase()

    @property
    def generation(self) -> int:
        """Which of its lives this is, from 1."""
        return self._life.generation

    # --- what a test does to it

    def add_rule(self, rule: Rule) -> None:
        """Put a rule in force before the older ones; its seconds count from now."""
        self._rules = self._rules.add(rule, self.clock.now())

    def hold(self, place: str) -> Hold:
        """The hold at a place of `holds.PLACES`, or the one that a phase's `hold=` names."""
        if place not in self.holds:
            self.holds[place] = Hold(place, self._life.turn)
        return self.holds[place]

    def timeline(self) -> list[str]:
        """What happened so far, a line each, for people."""
        return self.journal.timeline(self.name)

    @property
    def port(self) -> int:
        """The port, once started."""
        return self._life.port.number

    @property
    def url(self) -> str:
        """Where the engine is, without a slash at the end."""
        host = self._life.port.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    # --- what its tap, player, web edge and personality ask (protocols Stand, Stage, Host, Desk)

    @property
    def taps(self) -> dict[int, Tap]:
        return self._life.taps

    @property
    def holds(self) -> dict[str, Hold]:
        return self._life.holds

    @property
    def swallows(self) -> bool:
        return isinstance(self._life.phase(), Accepting)

    @property
    def lists(self) -> bool:
        return self._life.phase().lists

    @property
    def asleep(self) -> bool:
        return self._life.asleep

    @property
    def paused(self) -> bool:
        return self._life.paused

    @property
    def sleepable(self) -> bool:
        return self.script.dev_mode or isinstance(self._life.phase(), Sleeping)

    def sleep(self, level: int) -> None:
        self._life.sleep(level)

    def wake(self) -> None:
        self._life.wake()

    def pause(self, *, on: bool) -> None:
        self._life.pause(on=on)

    async def awake(self) -> None:
        await self._life.awake()

    def app(self) -> asyncio.Protocol:
        assert self._web is not None
        return connection(self._web, self)

    def tap_lost(self, number: int) -> None:
        self.taps.pop(number, None)
        self._perhaps_gone()

    def task_ended(self) -> None:
        self.tasks -= 1
        self._perhaps_gone()

    def complain(self, status: int, message: str | None) -> tuple[Headers, bytes]:
        return self.personality.complain(status, message, self)

    def not_http(self) -> tuple[Head, bytes]:
        return self.personality.not_http(self)

    def wall(self) -> int:
        return int(self.clock.wall())

    def date(self) -> bytes:
        second = self.wall()
        if self._dated[0] != second:
            self._dated = (second, formatdate(second, usegmt=True).encode())
        return self._dated[1]

    # --- inside

    def _tap(self) -> Tap:
        return Tap(self)

    def _perhaps_gone(self) -> None:
        gone = self._gone
        if gone is not None and not gone.done() and not self.taps and not self.tasks:
            gone.set_result(None)

    async def _handle(self, request: web.BaseRequest) -> Answered | web.StreamResponse:
        tap = cast(TapTransport, request.transport).tap
        if request.headers.get("expect", "").lower() == "100-continue":
            tap.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = await request.read()
        method, path, now = request.method, request.path, self.clock.now()
        self._numbers += 1
        entry = Entry(self._numbers, tap.number, now, method, path, request.headers, body)
        tap.entry = entry
        self.journal.entries.append(entry)
        self.journal.note(now, tap.number, "request", len(body), f"{method} {path}")
        endpoint = self.personality.endpoint(method, path)
        fault = self._choose(entry, endpoint, now)
        query = request.query_string
        ask = Ask(entry.number, method, path, endpoint, query, request.headers, body, self.complain)
        user = self._user_handler(method, path) if self.script.handlers else None
        if user is not None:
            response = await user(request)
            if type(response) is not web.Response or not isinstance(response.body, bytes | None):
                entry.status = response.status
                return cast(web.StreamResponse, response)
            honest = replayed(response)
        elif fault is None:
            honest = self.personality.answer(ask, self)
        else:
            honest = self._lazily(ask)
        player = Player(
            tap,
            self,
            entry,
            closing=not request.keep_alive,
            http10=request.version.minor == 0,
            bodyless=method == "HEAD",
        )
        keep = await player.perform(honest if fault is None else fault.play(honest, ask))
        if keep:
            tap.entry = None
            tap.rest()
            return KEEP
        return CLOSE

    def _choose(self, entry: Entry, endpoint: str, now: int) -> Fault | None:
        """The fault for a request that has just arrived; None for none."""
        phase = self._life.phase()
        entry.phase, entry.generation = phase.name, self.generation
        rule = None
        if self._rules.live:
            rule, self._rules = self._rules.take(entry.method, entry.path, now)
        chosen = cast(Fault, rule.do) if rule is not None else phase.does(endpoint)
        if endpoint in INFERENCE:
            self._life.took_request()
        if isinstance(chosen, Honest):
            return None
        entry.fault = fault_name(chosen)
        return chosen

    def _lazily(self, ask: Ask) -> Iterator[Action]:
        """The honest answer, made only if the fault asks for it."""
        yield from self.personality.answer(ask, self)

    def _user_handler(self, method: str, path: str) -> Any:
        for name in self.script.handlers:
            own = handler(name)
            if own.route == f"{method} {path}":
                return own.handle
        return None
