"""The world of one scenario: its loop, its engines, its router, what its client got."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pytest

from staticfire.bdd.applies import UNSUPPORTED
from staticfire.clock import seconds
from staticfire.engine import Group, MockEngine, Script
from staticfire.engine.groups import members
from staticfire.errors import BrokenPromise, WrongStep, did_you_mean
from staticfire.expectations import Budget
from staticfire.judge import Answer, Judge
from staticfire.stand.lanes import Engine, Lane, NoneLeft
from staticfire.stand.loops import ScenarioLoop, VirtualScenarioLoop
from staticfire.stand.routers import RouterFactory, RouterUnderTest, Unsupported
from staticfire.stand.seeds import derive

__all__ = ["MODEL", "ROUGHLY", "World"]

T = TypeVar("T")

MODEL = "qwen"
"""The model that engines of a scenario serve unless it says otherwise, or the lane has its own."""

ROUGHLY = 5.0
"""Seconds by which a time may miss where another process takes part: half a real one, mostly."""


@dataclass
class World:
    """What steps and fixtures share. `run` is the only way into the loop."""

    loop: ScenarioLoop
    lane: Lane
    router_factory: RouterFactory
    seed: int
    wait_budget: Callable[[float | None], Budget]
    """The timeout of a wait-until-served step, see `staticfire.expectations`."""
    engines: dict[str, Engine] = field(default_factory=dict)
    router: RouterUnderTest | None = None
    answers: list[Answer] = field(default_factory=list)
    sent: list[str] = field(default_factory=list)
    """The ids of the chat requests that its clients sent."""
    log: list[str] = field(default_factory=list)
    """What the router logged, messages only."""
    logged_at: list[float] = field(default_factory=list)
    """When it logged each of them."""
    facts: dict[str, Any] = field(default_factory=dict)
    """What a step leaves for a later one, by a word of the scenario."""
    reported: list[str] = field(default_factory=list)
    """What the run should tell about a scenario that passed."""
    _closers: list[Callable[[], Awaitable[object]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._handler = _Listener(self)
        logger = logging.getLogger("staticfire.router")
        logger.addHandler(self._handler)
        self._level = logger.level
        logger.setLevel(logging.INFO)
        self._start = self.loop.clock.now()

    # --- time

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        """Run one coroutine on the scenario's loop."""
        __tracebackhide__ = True
        return self.loop.run(main)

    @property
    def seconds(self) -> float:
        """Seconds since the scenario began."""
        return seconds(self.loop.clock.now() - self._start)

    def at(self, seconds: float) -> float:
        """A time of the scenario as a time of its loop, for `asyncio.timeout_at`."""
        from staticfire.clock import NS

        return self._start / NS + seconds

    def since_start(self, now: int) -> float:
        """A clock time in nanoseconds as seconds of the scenario."""
        return seconds(now - self._start)

    # --- engines

    @property
    def model(self) -> str:
        """The model that is asked for: the lane's own, where it has one."""
        return self.lane.model or MODEL

    async def mock_engine(self, name: str, script: Script, *, port: int = 0) -> MockEngine:
        """Start a mock engine with a script; it is stopped with the world."""
        engine = MockEngine(script, name=name, seed=derive(self.seed, name), port=port)
        self.enter(name, engine)
        await engine.start()
        return engine

    async def mock_fleet(
        self, groups: Iterable[Group], default: Script | None = None
    ) -> list[MockEngine]:
        """Start the engines of groups; `default` is the script of a group that has none."""
        alike = default or Script(model=MODEL, personality=self.lane.personality)
        return [
            await self.mock_engine(member.name, member.script, port=member.port)
            for member in members(groups, self.seed, alike)
        ]

    async def lane_engine(self, name: str, model: str | None = None) -> Engine:
        """Start an engine of the run's lane that serves `model`, else the one that is asked for."""
        try:
            engine = await self.lane.start(name, model or self.model, derive(self.seed, name))
        except NoneLeft as none:
            pytest.skip(f"needs {none}")
        self.enter(name, engine)
        return engine

    async def loading_engine(self, name: str) -> Engine:
        """Start an engine of the run's lane that takes seconds to load."""
        engine = await self.lane.start_loading(name, self.model, derive(self.seed, name))
        self.enter(name, engine)
        return engine

    async def unloaded_engine(self, name: str) -> Engine:
        """Start an engine of the run's lane that lists its model and has not loaded it."""
        engine = await self.lane.start_unloaded(name, self.model, derive(self.seed, name))
        self.enter(name, engine)
        return engine

    def enter(self, name: str, engine: Engine) -> None:
        """Make an engine one of the scenario; it is stopped with the world."""
        if name in self.engines:
            raise WrongStep(f"this scenario has an engine {name!r} already")
        self.engines[name] = engine
        self.defer(engine.stop)

    def engine(self, name: str) -> Engine:
        """An engine of this scenario by name."""
        try:
            return self.engines[name]
        except KeyError:
            raise WrongStep(
                f"no engine {name!r} in this scenario; {did_you_mean(name, self.engines)}"
            ) from None

    def mock(self, name: str) -> MockEngine:
        """A mock engine of this scenario by name."""
        engine = self.engine(name)
        if not isinstance(engine, MockEngine):
            raise TypeError(f"engine {name!r} is a real one: it follows no script")
        return engine

    # --- router and client

    async def start_router(
        self, settings: Mapping[str, Any] | None = None, names: Iterable[str] | None = None
    ) -> RouterUnderTest:
        """Start the router under test in front of all engines of the scenario, or of those named."""
        workers = [self.engine(name).url for name in (self.engines if names is None else names)]
        try:
            self.router = self.router_factory.make(workers, self._with_key(settings or {}))
        except Unsupported as why:
            pytest.skip(f"{UNSUPPORTED}{why}")
        self.defer(self.router.stop)
        await self.router.start()
        return self.router

    def _with_key(self, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        """The settings, with the key of the lane's engines for the router that takes one.

        Others are sent it by the client, and hand it on.
        """
        carried = dict(self.lane.key.headers).get(b"authorization")
        if carried is None or self.router_factory.name != "bundled":
            return settings
        return {"worker_api_key": carried.decode().removeprefix("Bearer "), **settings}

    @property
    def front(self) -> str:
        """Where clients send requests: the router, or the only engine where there is none."""
        if self.router is not None:
            return self.router.url
        if len(self.engines) == 1:
            return next(iter(self.engines.values())).url
        raise WrongStep("name the engine, or start a router: there is more than one address")

    def judge(self, url: str | None = None) -> Judge:
        """A client whose answers the scenario keeps."""
        judge = Judge(url or self.front)
        judge.session_headers += getattr(self.router, "session_headers", ())
        judge.headers = tuple((n.decode(), v.decode()) for n, v in self.lane.key.headers)
        judge.answers, judge.sent = self.answers, self.sent
        return judge

    @property
    def answer(self) -> Answer:
        """The last answer that came."""
        if not self.answers:
            raise BrokenPromise("no request was answered yet in this scenario")
        return self.answers[-1]

    def router_log(self) -> list[str]:
        """What the router said so far."""
        said = getattr(self.router, "log", None)
        return list(said()) if said is not None else self.log

    def told(self) -> list[tuple[float | None, str]]:
        """What the router said so far, with its times where they are known."""
        said = self.router_log()
        times: list[float | None] = list(self.logged_at) if said is self.log else []
        return list(zip(times or [None] * len(said), said, strict=True))

    @property
    def notices(self) -> float:
        """Seconds that the router under test takes to see a change of a worker, if it is slow."""
        return float(getattr(self.router, "notices", 0.0))

    async def notice(self, seconds: float) -> None:
        """Let so much time pass, or as much as the router needs to see a change of a worker."""
        await asyncio.sleep(max(seconds, self.notices))

    @property
    def exact(self) -> bool:
        """Whether time is virtual, so that what happens at an instant happens at that instant."""
        return isinstance(self.loop, VirtualScenarioLoop)

    def near(self, found: float, wanted: float) -> bool:
        """Whether a time is the promised one: to the millisecond, or roughly in a time that runs."""
        if self.exact:
            return round(found, 3) == wanted
        return abs(found - wanted) <= max(ROUGHLY, wanted / 5)

    # --- the end

    def defer(self, closer: Callable[[], Awaitable[object]]) -> None:
        """Call at the end, the last one first."""
        self._closers.append(closer)

    def close(self) -> list[str]:
        """Stop everything; the names of the tasks that the scenario left behind."""
        logger = logging.getLogger("staticfire.router")
        logger.removeHandler(self._handler)
        logger.setLevel(self._level)
        try:
            self.run(self._close())
        finally:
            left = self.loop.close()
        return left

    async def _close(self) -> None:
        while self._closers:
            await self._closers.pop()()

    def timelines(self) -> dict[str, list[str]]:
        """Each engine's timeline, for a failing scenario."""
        return {name: engine.timeline() for name, engine in self.engines.items()}


class _Listener(logging.Handler):
    def __init__(self, world: World) -> None:
        super().__init__(logging.INFO)
        self._world = world

    def emit(self, record: logging.LogRecord) -> None:
        self._world.log.append(record.getMessage())
        self._world.logged_at.append(self._world.seconds)
