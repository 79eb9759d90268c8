"""A state folder, a store, a service on a mock engine, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from staticfire.engine import MockEngine, Script
from staticfire.services.home import Home
from staticfire.services.launch import Launcher, plan
from staticfire.services.service import Patience, Service
from staticfire.services.store import Store
from staticfire.stand.mock_host import MockHost


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "state")


@pytest.fixture
def store(home: Home):
    """A store of this test's own."""
    made = Store(home)
    yield made
    made.close()


@pytest.fixture
def planned() -> Callable[..., Service]:
    """A service as `serve` plans it."""

    def make(name: str = "qwen", **more) -> Service:
        return plan(
            name, ("engine", "--port", "{port}"), model="qwen", port=more.pop("port", 8001), **more
        )

    return make


@pytest.fixture
def room(store: Store):
    """A store with a host of mock engines; `await room.serve(name, *life)` starts one."""
    host = MockHost()
    launcher = Launcher(store, host)
    engines: list[MockEngine] = []

    async def serve(name: str, *life, patience: Patience | None = None, **script) -> MockEngine:
        engine = MockEngine(Script(model="qwen", life=life, **script), name=name)
        await engine.start()
        engines.append(engine)
        host.add(name, engine)
        service = plan(name, ("engine",), model="qwen", url=engine.url, patience=patience)
        await launcher.serve(service, {})
        return engine

    async def close() -> None:
        await asyncio.sleep(0.01)  # a connect that was broken off arrives before its engine stops
        for engine in engines:
            await engine.stop()

    return SimpleNamespace(store=store, host=host, launcher=launcher, serve=serve, close=close)
