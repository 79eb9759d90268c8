"""Fixtures for tests without Gherkin; scenarios stand on the same world.

They are sync and bound to the world's loop; a coroutine test that uses one runs on that loop.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from staticfire.bdd.chosen import router_of
from staticfire.bdd.keys import FAILED_AT, NO_LANE, SESSION, TOLD, WORLD

if TYPE_CHECKING:
    from staticfire.bdd.session import Session
    from staticfire.bdd.world import World
    from staticfire.engine import Group, MockEngine, Script
    from staticfire.judge import Judge
    from staticfire.stand.routers import RouterUnderTest

__all__ = ["client", "fleet", "mock_engine", "router", "router_name", "world"]


@pytest.fixture
def router_name(request: pytest.FixtureRequest) -> str:
    """The router under test; parametrised when `--router` is given more than once."""
    return router_of(request.node, _session(request))


@pytest.fixture
def world(request: pytest.FixtureRequest, router_name: str) -> Iterator[World]:
    """The world of one scenario; `world.run(coroutine)` runs on its clock."""
    from staticfire.bdd.tags import tags_of

    session = _session(request)
    item = request.node
    tags = tags_of(item)
    callspec = getattr(item, "callspec", None)
    names = (tags.id, callspec.id if callspec else "") if tags and tags.id else (item.nodeid,)
    lent = _lent_loop(request) if session.virtual(tags, router_name) else None
    made = session.world(tags, router_name, session.seed(*map(str, names)), lent)
    item.stash[WORLD] = made
    yield made
    left = made.close()
    item.config.stash[TOLD] += [f"{item.nodeid}: {line}" for line in made.reported]
    if left and FAILED_AT not in item.stash:  # a step that failed leaves what was under way
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
    world: World, request: pytest.FixtureRequest
) -> Callable[..., Awaitable[list[MockEngine]]]:
    """For starting many mock engines: so many alike, groups, or a fleet file.

    `await fleet(16, life=[Loading(seconds=60)])`, which are named e00, e01 and so on;
    `await fleet([Group("early", 2), Group("late", 14, binds=(12, 172))])`;
    `await fleet("night.toml")`, a file beside the test. Fields are those of a script, for whoever
    has none.
    """
    from staticfire.bdd.world import MODEL
    from staticfire.engine import Group, Script
    from staticfire.engine.fleet_file import parse_fleet
    from staticfire.engine.toml import read_text

    async def start(
        what: int | str | Path | Group | Iterable[Group],
        script: Script | None = None,
        **fields: Any,
    ) -> list[MockEngine]:
        alike = {"model": MODEL, **fields}
        default = script or Script(**alike)
        if isinstance(what, int):
            return [await world.mock_engine(f"e{n:02}", default) for n in range(what)]
        if isinstance(what, str | Path):
            file = request.path.parent / what
            read = parse_fleet(read_text(file), str(file), folder=file.parent, defaults=alike)
            return await world.mock_fleet(read.groups)
        groups = [what] if isinstance(what, Group) else what
        return await world.mock_fleet(groups, default)

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


def _lent_loop(request: pytest.FixtureRequest) -> Any:
    """The loop of a pytest-asyncio test, so that the test and its fixtures share one."""
    scope = getattr(request.node, "_loop_scope", None)
    if scope is None:
        return None
    return request.getfixturevalue(f"_{scope}_scoped_runner").get_loop()
