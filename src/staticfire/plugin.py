"""The pytest plugin: options, fixtures and hooks, wired to the rooms that do the work.

Nothing heavy is imported without a lane: aiohttp alone would cost every user 0.3 s.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from staticfire.errors import StaticFireError

if TYPE_CHECKING:
    from staticfire.bdd.session import Session
    from staticfire.bdd.world import World
    from staticfire.engine import MockEngine, Script
    from staticfire.judge import Judge
    from staticfire.stand.routers import RouterUnderTest

PACKAGED = "staticfire.features"
NO_LANE = "needs engines: run with --mock-engines, or --engine-lane NAME"

SESSION = pytest.StashKey["Session"]()
WORLD = pytest.StashKey["World"]()
TOLD = pytest.StashKey[list[str]]()
SO_FAR = pytest.StashKey[list[str]]()
"""The steps of a scenario that ran, each with its time."""
FAILED_AT = pytest.StashKey[str]()
"""Place and text of the step that failed."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("staticfire", "Static Fire: engines that misbehave on purpose")
    group.addoption(
        "--mock-engines",
        dest="engine_lane",
        action="store_const",
        const="mock",
        help="run the scenarios on mock engines, in virtual time (the lane `mock`)",
    )
    group.addoption(
        "--engine-lane",
        dest="engine_lane",
        metavar="NAME",
        help="mock, llamacpp, or one of [tool.staticfire.lanes]",
    )
    group.addoption(
        "--router",
        dest="engine_routers",
        metavar="NAME",
        action="append",
        help="the router under test: bundled, or one of [tool.staticfire.routers]; repeatable",
    )
    group.addoption("--engine-clock", choices=["virtual", "real"], help="the clock of mock engines")
    group.addoption(
        "--engine-seed", type=int, metavar="N", help="replay a run: the seed of everything random"
    )
    group.addoption("--expectations", metavar="FILE", help="known bugs, as a TOML file")
    parser.addini("engine_lane", "as --engine-lane", default="")
    parser.addini("engine_routers", "as --router", type="args", default=["bundled"])
    parser.addini("engine_clock", "as --engine-clock", default="virtual")
    parser.addini("engine_seed", "as --engine-seed", default="")
    parser.addini("staticfire_expectations", "as --expectations", default="")
    parser.addini("staticfire_features", "where the features live", type="paths", default=[])


def pytest_configure(config: pytest.Config) -> None:
    config.stash[TOLD] = []
    lane = config.getoption("engine_lane") or config.getini("engine_lane")
    config.args = [_packaged(arg) for arg in config.args]
    if not lane:
        return
    from staticfire.bdd.collect import STEPS_LOADED
    from staticfire.bdd.session import Asked, Session
    from staticfire.bdd.steps import MODULES

    try:
        config.stash[SESSION] = session = Session(
            Asked(
                lane=lane,
                routers=tuple(
                    config.getoption("engine_routers") or config.getini("engine_routers")
                ),
                clock=config.getoption("engine_clock") or config.getini("engine_clock"),
                seed=_seed(config),
                expectations=_expectations(config),
                features=tuple(config.getini("staticfire_features")),
            ),
            config.rootpath,
        )
    except StaticFireError as error:
        raise pytest.UsageError(str(error)) from error
    for module in MODULES:
        config.pluginmanager.import_plugin(module)
    config.stash[STEPS_LOADED] = True
    config.pluginmanager.register(_Ran(session, config.stash[TOLD]), "staticfire-ran")
    if session.lane.virtual and config.pluginmanager.hasplugin("asyncio"):
        config.pluginmanager.register(_LendsItsLoop(), "staticfire-asyncio")


def _packaged(arg: str) -> str:
    """`staticfire.features` as a path, so that `--pyargs` finds it in a checkout too."""
    head, colons, tail = arg.partition("::")
    if head != PACKAGED:
        return arg
    from staticfire.bdd.collect import features_dir

    return f"{features_dir()}{colons}{tail}"


def _seed(config: pytest.Config) -> int:
    asked = config.getoption("engine_seed")
    if asked is not None:
        return int(asked)
    from_controller = getattr(config, "workerinput", {}).get("engine_seed")
    if from_controller is not None:
        return int(from_controller)
    ini = str(config.getini("engine_seed"))
    return int(ini) if ini else random.SystemRandom().randrange(1_000_000)


def _expectations(config: pytest.Config) -> Path | None:
    asked = config.getoption("expectations")
    if asked:
        return Path(asked).resolve()
    ini = config.getini("staticfire_expectations")
    return config.rootpath / ini if ini else None


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Every xdist worker uses the controller's seed."""
    session = node.config.stash.get(SESSION, None)
    if session is not None:
        node.workerinput["engine_seed"] = session.asked.seed


def pytest_report_header(config: pytest.Config) -> list[str]:
    session = config.stash.get(SESSION, None)
    if session is None:
        return []
    asked = session.asked
    routers = ", ".join(asked.routers)
    what = f"lane {asked.lane}, clock {asked.clock}, router {routers}, --engine-seed {asked.seed}"
    return [f"static fire: {line}" for line in (what, *session.notes)]


# --- collection


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix != ".feature":
        return None
    config = parent.config
    own = config.getini("staticfire_features")
    if own or SESSION not in config.stash:
        from staticfire.bdd.collect import packaged

        inside = any(file_path.is_relative_to(folder) for folder in own)
        if not inside and not packaged(file_path):
            return None
    from staticfire.bdd.collect import FeatureFile

    return FeatureFile.from_parent(parent, path=file_path)


@pytest.hookimpl(tryfirst=True)
def pytest_bdd_apply_tag(tag: str, function: Any) -> bool | None:
    """Our tags are read as values; a project's own stay pytest markers."""
    from staticfire.bdd.tags import LEVELS, PLAIN

    del function
    return True if ":" in tag or tag in LEVELS or tag in PLAIN else None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    session = metafunc.config.stash.get(SESSION, None)
    if session is None or len(session.asked.routers) < 2:
        return
    if "router_name" not in metafunc.fixturenames:
        if getattr(metafunc.function, "staticfire_tags", None) is None:
            return
        metafunc.fixturenames.append("router_name")
    metafunc.parametrize("router_name", session.asked.routers)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    from staticfire.bdd.tags import tags_of

    session = config.stash.get(SESSION, None)
    for item in items:
        tags = tags_of(item)
        if tags is None:
            continue
        if session is None:
            item.add_marker(pytest.mark.skip(reason=NO_LANE))
            continue
        from staticfire.bdd.marking import mark

        mark(item, tags, session, _router_of(item, session))


def _router_of(item: pytest.Item, session: Session) -> str:
    callspec = getattr(item, "callspec", None)
    chosen = callspec.params.get("router_name") if callspec else None
    return str(chosen or session.asked.routers[0])


# --- fixtures


@pytest.fixture
def router_name(request: pytest.FixtureRequest) -> str:
    """The router under test; parametrised when `--router` is given more than once."""
    return _router_of(request.node, _session(request))


@pytest.fixture
def world(request: pytest.FixtureRequest, router_name: str) -> Iterator[World]:
    """The world of one scenario; `world.run(coroutine)` runs on its clock."""
    from staticfire.bdd.tags import tags_of

    session = _session(request)
    item = request.node
    tags = tags_of(item)
    callspec = getattr(item, "callspec", None)
    names = (tags.id, callspec.id if callspec else "") if tags and tags.id else (item.nodeid,)
    lent = _lent_loop(request) if session.virtual(tags) else None
    made = session.world(tags, router_name, session.seed(*map(str, names)), lent)
    item.stash[WORLD] = made
    yield made
    left = made.close()
    item.config.stash[TOLD] += [f"{item.nodeid}: {line}" for line in made.reported]
    if left:
        pytest.fail(f"the scenario left tasks running: {', '.join(left)}", pytrace=False)


def _session(request: pytest.FixtureRequest) -> Session:
    session = request.config.stash.get(SESSION, None)
    if session is None:
        pytest.skip(NO_LANE)
    if session.missing:
        pytest.skip(session.missing)
    return session


@pytest.fixture
def mock_engine(world: World) -> Callable[..., Awaitable[MockEngine]]:
    """For starting a mock engine by name, with a script or with the fields of one.

    `await mock_engine("late", life=[Refuses(seconds=12)])`; it is stopped after the test.
    """
    from staticfire.bdd.world import MODEL
    from staticfire.engine import Script

    async def start(
        name: str = "engine", script: Script | None = None, **fields: Any
    ) -> MockEngine:
        return await world.mock_engine(name, script or Script(**{"model": MODEL, **fields}))

    return start


@pytest.fixture
def fleet(
    mock_engine: Callable[..., Awaitable[MockEngine]],
) -> Callable[..., Awaitable[list[MockEngine]]]:
    """For starting many mock engines alike, named e00, e01 and so on.

    `await fleet(16, life=[Loading(seconds=60)])`.
    """

    async def start(count: int, script: Script | None = None, **fields: Any) -> list[MockEngine]:
        return [await mock_engine(f"e{n:02}", script, **fields) for n in range(count)]

    return start


@pytest.fixture
def router(world: World) -> Callable[..., Awaitable[RouterUnderTest]]:
    """For starting the router under test, in front of all engines that were started.

    `await router(policy="sticky")`; keywords are the router's settings.
    """

    async def start(**settings: Any) -> RouterUnderTest:
        return await world.start_router(settings)

    return start


@pytest.fixture
def client(world: World) -> Callable[..., Judge]:
    """For asking as an honest client, the router unless a URL is given.

    `answer = await client().chat("qwen", stream=True)`.
    """
    return world.judge


# --- running


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a coroutine test that uses the world on the world's loop."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj) or "world" not in pyfuncitem.fixturenames:
        return None
    wanted = inspect.signature(pyfuncitem.obj).parameters
    arguments = {n: v for n, v in pyfuncitem.funcargs.items() if n in wanted}
    made: Any = pyfuncitem.funcargs["world"]
    made.run(pyfuncitem.obj(**arguments))
    return True


def _lent_loop(request: pytest.FixtureRequest) -> Any:
    """The loop of a pytest-asyncio test, so that the test and its fixtures share one."""
    scope = getattr(request.node, "_loop_scope", None)
    if scope is None:
        return None
    return request.getfixturevalue(f"_{scope}_scoped_runner").get_loop()


class _LendsItsLoop:
    """Gives pytest-asyncio's tests a virtual loop where they use the world."""

    @pytest.hookimpl(trylast=True)
    def pytest_asyncio_loop_factories(self, config: Any, item: Any) -> Mapping[str, Any]:
        import asyncio

        from staticfire.clock.virtual import VirtualLoop

        del config
        if "world" in getattr(item, "fixturenames", ()):
            return {"virtual": VirtualLoop}
        return {"asyncio": asyncio.new_event_loop}


def pytest_bdd_before_scenario(request: Any) -> None:
    """The world begins with the scenario, so that every step has its time."""
    if SESSION in request.config.stash:
        request.getfixturevalue("world")


def pytest_bdd_before_step(request: Any, feature: Any, step: Any, step_func: Any) -> None:
    """Keep the steps so far; refuse a step that nobody would await."""
    if inspect.iscoroutinefunction(step_func) or inspect.isasyncgenfunction(step_func):
        raise TypeError(
            f"{feature.rel_filename}:{step.line_number}: pytest-bdd's own @{step.type} never awaits "
            f"an async step, so it would pass whatever it asserts; use "
            f"`from staticfire.bdd.step import {step.type}`"
        )
    made = request.node.stash.get(WORLD, None)
    at = f"{made.seconds:10.3f} s  " if made is not None else ""
    request.node.stash.setdefault(SO_FAR, []).append(f"{at}{step.keyword} {step.name}")


def pytest_bdd_step_error(request: Any, feature: Any, step: Any) -> None:
    where = f"{feature.rel_filename}:{step.line_number}"
    request.node.stash[FAILED_AT] = f"{where}: {step.keyword} {step.name}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    report = yield
    session = item.config.stash.get(SESSION, None)
    if session is not None and report.failed:
        from staticfire.bdd.marking import explained, sections

        if item.config.get_verbosity() < 2 and call.excinfo is not None:
            report.longrepr = (
                explained(item.stash.get(FAILED_AT, None), call.excinfo.value) or report.longrepr
            )
        report.sections += sections(
            item, item.stash.get(SO_FAR, []), item.stash.get(WORLD, None), session
        )
    return report


class _Ran:
    """Counts what ran, so that a run that named a lane and ran nothing fails."""

    def __init__(self, session: Session, told: list[str]) -> None:
        self._session, self._told, self._ran = session, told, 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._ran += report.when == "call" and (report.outcome != "skipped" or _expected(report))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        self._session.lane.close()
        config = session.config
        if hasattr(config, "workerinput") or config.option.collectonly:
            return
        if not self._ran and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
            self._told.append(f"lane {self._session.asked.lane} ran nothing: all was skipped")


def _expected(report: pytest.TestReport) -> bool:
    """An expected failure is reported as skipped, and did run."""
    return hasattr(report, "wasxfail")


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    for line in config.stash.get(TOLD, []):
        terminalreporter.write_line(f"static fire: {line}")
