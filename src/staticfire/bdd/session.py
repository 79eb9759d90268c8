"""One run with a lane: what was asked for on the command line, read once."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from staticfire.bdd.applies import NO_ROUTER, Conditions, applicability, unsupported
from staticfire.bdd.collect import scenario_ids
from staticfire.bdd.tags import Tags
from staticfire.bdd.world import World
from staticfire.clock import REAL
from staticfire.errors import WrongInput, did_you_mean
from staticfire.expectations import Expectation, Expectations, budget_for, load
from staticfire.expectations.lint import ENGINES
from staticfire.expectations.peers import peer_rows, stale
from staticfire.stand.lanes import KINDS, Lane, LaneFailed, lanes
from staticfire.stand.limits import ENOUGH, lift_open_files
from staticfire.stand.loops import RealLoop, ScenarioLoop, VirtualScenarioLoop
from staticfire.stand.routers import RouterFactory, routers
from staticfire.stand.seeds import derive

__all__ = ["Asked", "Session", "gpu_here", "project_tables"]

RUSH = 3
"""How much faster time runs until a router that is a program starts: nobody else is there."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of a run."""

    lane: str
    routers: tuple[str, ...]
    clock: str
    seed: int
    expectations: Path | None
    features: tuple[Path, ...]
    router_bin: tuple[str, ...] = ()
    """Folders where routers that are programs lie."""
    given: tuple[tuple[str, Any], ...] = ()
    """What the command line says of engines that already run, as options of their lane."""

    def given_words(self) -> Iterator[str]:
        """The same as it stood on the command line."""
        for name, value in self.given:
            if name == "urls":
                yield from (f"--engine-url {url}" for url in value)
            else:
                yield f"--engine-{name.replace('_', '-')} {value}"


def project_tables(root: Path, kind: str) -> Mapping[str, Any]:
    """`[tool.staticfire.lanes]` or `[tool.staticfire.routers]` of the project; {} without it."""
    path = root / "pyproject.toml"
    if not path.is_file():
        return {}
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise WrongInput(str(path), expected="valid TOML", found=str(error)) from error
    found: Mapping[str, Any] = tables.get("tool", {}).get("staticfire", {}).get(kind, {})
    return found


def gpu_here() -> str:
    """The kind of GPU of this machine, by its device files: none, amd or nvidia."""
    if Path("/dev/nvidiactl").exists():
        return "nvidia"
    return "amd" if Path("/dev/kfd").exists() else "none"


@dataclass
class Session:
    """The lane, the routers under test and the known bugs of a run.

    Raises `WrongInput` for an unknown lane, router or row when it is made.
    """

    asked: Asked
    root: Path
    lane: Lane = field(init=False)
    expectations: Expectations = field(init=False)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        known = lanes(project_tables(self.root, "lanes"), dict(self.asked.given))
        if self.asked.lane not in known:
            raise WrongInput(
                "--engine-lane",
                expected="a known lane",
                found=repr(self.asked.lane),
                do=did_you_mean(self.asked.lane, known),
            )
        self._routers = routers(project_tables(self.root, "routers"), self.asked.router_bin)
        for name in self.asked.routers:
            if name not in self._routers:
                raise WrongInput(
                    "--router",
                    expected="a known router",
                    found=repr(name),
                    do=did_you_mean(name, self._routers),
                )
            self._routers[name].load()
        self.lane = known[self.asked.lane]()
        self.expectations = Expectations()
        if self.asked.expectations is not None:
            self.expectations = load(
                self.asked.expectations,
                known_ids=scenario_ids(self.asked.features),
                lanes=known,
                routers=self._routers,
                engines={*ENGINES, *KINDS},
                today=datetime.fromtimestamp(REAL.wall(), UTC).date(),
            )
        self._add_peers()
        limit = lift_open_files()
        if limit < ENOUGH:
            self.notes.append(f"only {limit} open files are allowed here; fleets may need {ENOUGH}")

    def _add_peers(self) -> None:
        """What is known of the routers of this run; the project's own rows decide before it."""
        for name in self.asked.routers:
            rows = peer_rows(name)
            if rows:
                self.expectations = Expectations((*self.expectations.rows, *rows))
                self.notes += stale(name, self._routers[name].version(), rows)

    def prepare(self) -> None:
        """Have the lane look at what it stands on, where it is here. Raises `LaneFailed`."""
        if self.missing is not None:
            return
        try:
            self.lane.prepare()
        except LaneFailed as failed:  # a lane knows its kind; a project has given it a name
            raise LaneFailed(self.asked.lane, failed.told) from failed

    @cached_property
    def missing(self) -> str | None:
        """Why the lane cannot be used here."""
        return self.lane.missing()

    def virtual(self, tags: Tags | None, router: str) -> bool:
        """Whether a test runs in virtual time."""
        return (
            self.lane.virtual
            and self._scale(router) is None
            and self.asked.clock == "virtual"
            and not (tags is not None and tags.realtime)
        )

    def conditions(self, tags: Tags | None, router: str, example: str = "") -> Conditions:
        """What holds for one test."""
        return Conditions(
            lane=self.asked.lane,
            engine=self.lane.kind,
            personality=self.lane.personality,
            router=router,
            clock="virtual" if self.virtual(tags, router) else "real",
            os=sys.platform,
            gpu=gpu_here(),
            example=example,
        )

    def expectation(self, tags: Tags | None, router: str, example: str = "") -> Expectation:
        """What the tags and the rows say of one test."""
        tags = tags or Tags()
        program = self._scale(router) is not None
        if program and tags.id and not tags.routed:
            return Expectation(tags.id, "skip", NO_ROUTER)
        expected = self.expectations.resolve(
            tags.id or "",
            self.conditions(tags, router, example).as_row(),
            tags=applicability(tags),
            has=self._capabilities(tags, router),
        )
        why = unsupported(tags, router, self._routers[router].capabilities)
        if why is not None and expected.outcome != "skip":
            return Expectation(tags.id or "", "skip", why)
        return expected

    def _scale(self, router: str) -> float | None:
        """Scenario seconds in a real one, of a router that is a program."""
        return self._routers[router].time_scale

    def _capabilities(self, tags: Tags, router: str) -> frozenset[str]:
        """What the lane has here: time that passes when the scenario says so may be scaled."""
        capabilities = self.lane.capabilities
        if self.virtual(tags, router):
            return capabilities
        scaled = self._scale(router) is not None and self.lane.virtual
        return capabilities - ({"virtual"} if scaled else {"virtual", "clock"})

    def router(self, name: str) -> RouterFactory:
        """A router under test by name."""
        return self._routers[name]

    def seed(self, *names: str) -> int:
        """The seed of one test."""
        return derive(self.asked.seed, *names)

    def world(self, tags: Tags | None, router: str, seed: int, lent: Any = None) -> World:
        """A world for one test; `lent` is a loop from outside."""
        loop: ScenarioLoop
        if lent or self.virtual(tags, router):
            loop = VirtualScenarioLoop(lent)
        else:
            scale = self._scale(router)
            loop = RealLoop(None if scale is None else RUSH * scale)
        factory = self.router(router)
        if tags is not None and tags.counts:
            factory = factory.counting()
        return World(
            loop=loop,
            lane=self.lane,
            router_factory=factory,
            seed=seed,
            wait_budget=partial(budget_for, self.expectation(tags, router)),
        )
