"""Steps of services: engines that are started, kept and stopped."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from staticfire.bdd.step import given, then, when
from staticfire.bdd.world import MODEL, World
from staticfire.clock import ns
from staticfire.errors import BrokenPromise
from staticfire.services.home import Home
from staticfire.services.launch import Launcher, plan
from staticfire.services.processes import Table, variable
from staticfire.services.service import Service
from staticfire.services.store import Store
from staticfire.services.supervise import Supervisor
from staticfire.stand.mock_host import MockHost


@dataclass
class Room:
    """The state folder of a scenario."""

    store: Store
    host: MockHost = field(default_factory=MockHost)
    changes: dict[str, list[tuple[float, str]]] = field(default_factory=dict)
    """Each service's statuses, with the times at which they began."""
    out: str = ""
    code: int = 0
    took: float = 0.0
    before: dict[str, Service] = field(default_factory=dict)
    """Each service as it was before its last restart."""

    @property
    def environ(self) -> dict[str, str]:
        """For commands in this state folder."""
        return {**os.environ, "STATICFIRE_HOME": str(self.store.home.path)}


def room(world: World) -> Room:
    """The scenario's own state folder, made when first asked for, gone with all that runs in it."""
    if "services" not in world.facts:
        folder = tempfile.TemporaryDirectory(prefix="staticfire-")
        made = Room(Store(Home(Path(folder.name))))
        world.facts["services"] = made

        async def close() -> None:
            made.store.close()
            for pid in Table().processes:
                if variable(pid, "STATICFIRE_HOME") == folder.name and pid != os.getpid():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
            folder.cleanup()

        world.defer(close)
    found: Room = world.facts["services"]
    return found


def service(world: World, name: str) -> Service:
    """The record of a service."""
    return room(world).store.get(name)


# --- in virtual time, on mock engines


@given('a service on engine "{name}"', example='a service on engine "slow"')
async def _(world: World, name: str) -> None:
    """A service of that name, whose command begins a new life of the engine."""
    here, engine = room(world), world.mock(name)
    here.host.add(name, engine)
    asked = plan(name, ("engine",), model=MODEL, url=engine.url)
    await Launcher(here.store, here.host).serve(asked, {})


@given(
    'the log of service "{name}" grows for {seconds:g} seconds',
    example='the log of service "slow" grows for 1200 seconds',
)
async def _(world: World, name: str, seconds: float) -> None:
    """Its engine writes a line each second, as a download does."""
    start = world.loop.clock.now()
    room(world).host.programs[name].log = lambda now: min(now - start, ns(seconds)) // ns(1)


@when(
    "the services are supervised for {seconds:g} seconds",
    example="the services are supervised for 400 seconds",
)
async def _(world: World, seconds: float) -> None:
    """A supervisor that looks every 5 seconds, from a fresh view of the store."""
    here = room(world)

    def note(name: str, text: str) -> None:
        del text
        with contextlib.suppress(ValueError):
            record = here.store.get(name).readiness
            seen = here.changes.setdefault(name, [])
            if not seen or seen[-1][1] != record.status.value:
                seen.append((world.seconds, record.status.value))

    task = asyncio.create_task(Supervisor(here.store, here.host, say=note).run())
    await asyncio.sleep(seconds)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@when('service "{name}" is restarted by its user', example='service "a" is restarted by its user')
async def _(world: World, name: str) -> None:
    """Its processes end, then a new life begins."""
    here = room(world)
    here.before[name] = here.store.get(name)
    await Launcher(here.store, here.host).restart(name)


@when('service "{name}" is stopped by its user', example='service "a" is stopped by its user')
async def _(world: World, name: str) -> None:
    """Its processes end, and nobody starts it again."""
    here = room(world)
    await Launcher(here.store, here.host).stop(name)


@then(
    'service "{name}" became {status} at {at:g} s', example='service "slow" became ready at 365 s'
)
async def _(world: World, name: str, status: str, at: float) -> None:
    """A supervisor saw it change then, at its look."""
    seen = room(world).changes.get(name, [])
    if (at, status) not in [(round(t, 3), s) for t, s in seen]:
        raise BrokenPromise(f"expected {name} to become {status} at {at:g} s; it was {seen}")


@then('service "{name}" was never {status}', example='service "slow" was never failed')
async def _(world: World, name: str, status: str) -> None:
    """No look gave it that status."""
    seen = room(world).changes.get(name, [])
    if not seen or status in [s for _, s in seen]:
        raise BrokenPromise(f"expected {name} never to be {status}; it was {seen}")


@then('service "{name}" is {status}', example='service "slow" is ready')
async def _(world: World, name: str, status: str) -> None:
    """Its status, as its record has it."""
    record = service(world, name).readiness
    if record.status.value != status:
        raise BrokenPromise(
            f"expected {name} to be {status}, it is {record.status.value}: {record.reason}"
        )


@then('service "{name}" says "{words}"', example='service "slow" says "start-up budget"')
async def _(world: World, name: str, words: str) -> None:
    """Its reason contains these words."""
    reason = service(world, name).readiness.reason
    if words not in reason:
        raise BrokenPromise(f"expected the words {words!r}; {name} says {reason!r}")


@then('service "{name}" was restarted {count:d} times', example='service "a" was restarted 0 times')
async def _(world: World, name: str, count: int) -> None:
    """By a supervisor."""
    found = service(world, name).restarts
    if found != count:
        raise BrokenPromise(f"expected {count} restarts of {name}, there were {found}")
