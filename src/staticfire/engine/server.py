"""A mock engine: one script, one port, all its lives."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Self, cast

from aiohttp import web

from staticfire.clock import current
from staticfire.engine.actions import Action
from staticfire.engine.ask import INFERENCE, Ask
from staticfire.engine.desk import EngineDesk
from staticfire.engine.faults import Fault, Honest, fault_name
from staticfire.engine.handlers import handler, handler_of
from staticfire.engine.holds import Hold
from staticfire.engine.identity import Identity
from staticfire.engine.journal import Entry
from staticfire.engine.phases import SHED, Dead, Phase
from staticfire.engine.player import Player
from staticfire.engine.port import Port
from staticfire.engine.reading import Reading, read_slowly, reading
from staticfire.engine.rules import Rules
from staticfire.engine.script import Rule, Script
from staticfire.engine.tap import Tap
from staticfire.engine.transport import TapTransport
from staticfire.engine.web import CLOSE, KEEP, Answered, connection, replayed, server
from staticfire.errors import WrongInput

__all__ = ["MockEngine"]


class MockEngine(EngineDesk):
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
        script = script if script is not None else Script()
        for own in script.handlers:
            handler(own)
        if not name or not name.isprintable():
            raise WrongInput(
                "engine: name", expected="printable text", found=repr(name), do="engine-1, perhaps"
            )
        self.name, self.seed = name, seed
        super().__init__(script, Identity.of(name, seed), Port(host, port))
        self.connections = 0
        self.tasks = 0
        self.errors: list[BaseException] = []
        """What handlers and faults of the user raised; each was answered 500."""
        self._rules = Rules()
        self._early: list[Rule] = []
        self._numbers = 0
        self._web: web.Server | None = None
        self._life.outliving.ended = self._outlived
        self._gone: asyncio.Future[None] | None = None

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
        for rule in self._early:
            self.add_rule(rule)
        self._early.clear()
        self._life.live(self.script.life)
        return self

    async def stop(self) -> None:
        """End every connection, give the port back, leave no task and no socket."""
        if self._web is None:
            return
        self.journal.note(self.clock.now(), 0, "stops")
        self._life.end()
        for _ in range(4):  # connects that were being accepted become taps, which abort
            await asyncio.sleep(0)
        if self.taps or self.tasks or self._life.outliving:
            self._gone = asyncio.get_running_loop().create_future()
            await self._gone
        self._web = None

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    def run(self, *life: Phase) -> None:
        """Replace the rest of the life: these phases begin now."""
        self._must_be_started()
        self._life.live(life)

    def kill(self, *, reset: bool = False) -> None:
        """The process is gone at this instant; with `reset` its connections end by RST."""
        self._must_be_started()
        self._life.live((Dead(reset=reset),))

    def restart(self, script: Script | None = None) -> None:
        """A new life on the same port, from the beginning of the script (another one if given).

        A living engine is killed first. Rules of the script count anew, others are gone.
        """
        self.kill()
        self._take(script if script is not None else self.script)
        self._rules = Rules.of(self.script.rules, self.clock.now())
        self._life.live(self.script.life)

    @property
    def generation(self) -> int:
        """Which of its lives this is, from 1."""
        return self._life.generation

    # --- what a test does to it

    def add_rule(self, rule: Rule) -> None:
        """Put a rule in force before the older ones; its seconds count from now, or the start."""
        if not self.started:
            self._early.append(rule)
            return
        self._rules = self._rules.add(rule, self.clock.now())

    def hold(self, place: str) -> Hold:
        """The hold at a place of `holds.PLACES`, or the one that a phase's `hold=` names."""
        if place not in self.holds:
            self.holds[place] = Hold(place, self._life.turn)
        return self.holds[place]

    def timeline(self) -> list[str]:
        """What happened so far, a line each, for people."""
        return [line for _, line in self.journal.told(self.name)]

    @property
    def started(self) -> bool:
        """Whether it is between `start` and `stop`."""
        return self._web is not None

    @property
    def port(self) -> int:
        """The port, once started."""
        return self._life.port.number

    @property
    def url(self) -> str:
        """Where the engine is, without a slash at the end."""
        host = self._life.port.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    # --- what its connections ask of it

    def app(self) -> asyncio.Protocol:
        assert self._web is not None
        return connection(self._web, self)

    def tap_made(self, tap: Tap) -> int:
        self.connections += 1
        self.taps[self.connections] = tap
        return self.connections

    def tap_lost(self, number: int) -> None:
        self.taps.pop(number, None)
        if self._ending:
            self.answered()
        self._perhaps_gone()

    def task_ended(self) -> None:
        self.tasks -= 1
        self._perhaps_gone()

    def _outlived(self, failure: BaseException | None) -> None:
        if failure is not None:
            self.errors.append(failure)
        self._perhaps_gone()

    # --- inside

    def _must_be_started(self) -> None:
        if not self.started:
            raise WrongInput(
                f'engine "{self.name}"',
                expected="a started engine",
                found="one that is not",
                do="await engine.start() first",
            )

    def _tap(self) -> Tap:
        return Tap(self)

    def _perhaps_gone(self) -> None:
        gone = self._gone
        if gone is None or gone.done() or self.taps or self.tasks or self._life.outliving:
            return
        gone.set_result(None)

    async def _handle(self, request: web.BaseRequest) -> Answered:
        tap = cast(TapTransport, request.transport).tap
        if request.headers.get("expect", "").lower() == "100-continue":
            tap.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        method, path = request.method, request.path
        endpoint = self.personality.endpoint(method, path)
        pace = (
            self._reading(method, path, endpoint) if self._rules.live or self._life.slow else None
        )
        body = await (request.read() if pace is None else read_slowly(request.content, pace))
        now = self.clock.now()
        self._numbers += 1
        entry = Entry(self._numbers, tap.number, now, method, path, request.raw_headers, body)
        tap.entry = entry
        self.journal.open(entry)
        self.journal.note(now, tap.number, "request", len(body), f"{method} {path}")
        fault = self._choose(entry, endpoint, now)
        complain = self.complain_of_health if endpoint == "health" else self.complain
        query = request.query_string
        ask = Ask(entry.number, method, path, endpoint, query, request.headers, body, complain)
        own = self.script.handlers
        user = handler_of(own, f"{method} {path}") if own else None
        if user is not None:
            response = await user(request)
            if type(response) is not web.Response or not isinstance(response.body, bytes | None):
                return await self._let_through(request, response, tap, entry)
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
        if self._ending:
            self.answered()
        if keep:
            tap.entry = None
            tap.rest()
            return KEEP
        return CLOSE

    async def _let_through(
        self, request: web.BaseRequest, response: web.StreamResponse, tap: Tap, entry: Entry
    ) -> Answered:
        """A user handler's own stream: journalled, not altered, so that no fault is claimed."""
        entry.fault, entry.status = None, response.status
        await response.prepare(request)
        await response.write_eof()
        entry.end("whole", self.clock.now())
        tap.note("done")
        return KEEP if response.keep_alive else CLOSE

    def _reading(self, method: str, path: str, endpoint: str) -> Reading | None:
        """How slowly the body of a request is read; None for as it comes."""
        rule = self._rules.first(method, path, self.clock.now())
        return reading(rule.do if rule is not None else self._life.phase().does(endpoint))

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
        if isinstance(chosen, Honest) or (
            chosen is SHED and self._life.lazy and self._life.loading
        ):
            return None
        entry.fault = fault_name(chosen)
        return chosen

    def _lazily(self, ask: Ask) -> Iterator[Action]:
        """The honest answer, made only if the fault asks for it."""
        yield from self.personality.answer(ask, self)
