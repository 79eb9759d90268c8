"""Steps of services as processes: the commands, in a state folder of the scenario's own."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import sqlite3
import sys
from dataclasses import replace
from typing import Any

from staticfire.bdd.step import given, then, when
from staticfire.bdd.steps.services import room, service
from staticfire.bdd.world import MODEL, World
from staticfire.errors import BrokenPromise
from staticfire.services.host import Machine
from staticfire.services.launch import Launcher, plan
from staticfire.services.processes import NONCE, Table, variable
from staticfire.services.service import Patience


@when('staticfire runs "{words}"', example='staticfire runs "services list"')
async def _(world: World, words: str) -> None:
    """The command, in the state folder of the scenario, to its end."""
    await run(world, *shlex.split(words))


@when(
    'staticfire serves "{name}" for {seconds:g} seconds with the script',
    example='staticfire serves "late" for 2 seconds with the script',
)
async def _(world: World, name: str, seconds: float, docstring: str) -> None:
    """`staticfire serve`, its command being a mock engine of that script (TOML)."""
    here = room(world)
    script = here.store.home.path / f"{len(list(here.store.home.path.iterdir()))}.toml"
    script.write_text(docstring, encoding="utf-8")
    engine = [sys.executable, "-m", "staticfire", "engine", "--script", str(script)]
    await run(
        world, "serve", name, "--model", MODEL, "--timeout", f"{seconds:g}", "--", *engine,
        "--port", "{port}",
    )  # fmt: skip


@when(
    'staticfire serves "{name}" for {seconds:g} seconds with the command',
    example='staticfire serves "bad" for 2 seconds with the command',
)
async def _(world: World, name: str, seconds: float, docstring: str) -> None:
    """`staticfire serve`, its command being a shell line; $PORT is its port."""
    line = f"PORT={{port}}; {docstring.strip()}"
    await run(world, "serve", name, "--timeout", f"{seconds:g}", "--", "sh", "-c", line)


@when(
    'staticfire serves the engine of the lane as "{name}" for {seconds:g} seconds',
    example='staticfire serves the engine of the lane as "real" for 60 seconds',
)
async def _(world: World, name: str, seconds: float) -> None:
    """`staticfire serve` with the command line that starts an engine of this lane."""
    words = ("serve", name, "--model", world.model, "--timeout", f"{seconds:g}")
    await run(world, *words, *world.lane.key.words, "--", *world.lane.command(world.model))


@when(
    "{count:d} processes list the services at once", example="5 processes list the services at once"
)
async def _(world: World, count: int) -> None:
    """Fresh processes, none of which knows of another."""
    await asyncio.gather(*(run(world, "services", "list", "--within", "2") for _ in range(count)))


@given(
    'a service for the server of engine "{name}"', example='a service for the server of engine "a"'
)
async def _(world: World, name: str) -> None:
    """A service whose process only stands by, and whose address is the engine's. Not checked yet."""
    here, machine = room(world), Machine()
    asked = plan(
        name, ("sleep", "60"), model=MODEL, url=world.engine(name).url,
        patience=Patience(probe_deadline=3.0, grace=1.0),
    )  # fmt: skip
    made, _ = await Launcher(here.store, machine).serve(asked, here.environ)
    world.defer(lambda: machine.end(made))


@when("a supervisor is started", example="a supervisor is started")
async def _(world: World) -> None:
    """`staticfire supervise` in the background, with a tick of 0.2 seconds."""
    process = await start(world, "supervise", "--tick", "0.2")
    world.facts["supervisor"] = process
    assert process.stdout is not None
    await process.stdout.readline()


@when("the supervisor is killed", example="the supervisor is killed")
async def _(world: World) -> None:
    """Kill -9."""
    process = world.facts.pop("supervisor")
    process.kill()
    await process.wait()


@when('the process of service "{name}" is killed', example='the process of service "a" is killed')
async def _(world: World, name: str) -> None:
    """Kill -9 of the process that its record names."""
    pid = service(world, name).life.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)


@when('the process of service "{name}" hangs', example='the process of service "a" hangs')
async def _(world: World, name: str) -> None:
    """It keeps its port, answers nobody and hears no SIGTERM (it is sent SIGSTOP)."""
    here = room(world)
    here.before[name] = service(world, name)
    pid = here.before[name].life.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)


@when(
    'service "{name}" is given {seconds:g} seconds to end',
    example='service "a" is given 0.2 seconds to end',
)
async def _(world: World, name: str, seconds: float) -> None:
    """From the first SIGTERM to the second; the third signal is SIGKILL, 2 seconds later."""
    room(world).store.change(
        name, lambda s: replace(s, patience=replace(s.patience, grace=seconds))
    )


@then(
    'service "{name}" runs once, and the life before is gone',
    example='service "a" runs once, and the life before is gone',
)
async def _(world: World, name: str) -> None:
    """One process of this machine is of it, on the port that it had."""
    here, now = room(world), service(world, name)
    before = here.before[name]
    found = {
        pid
        for pid in Table().processes
        if variable(pid, NONCE) in {before.life.nonce, now.life.nonce}
    }
    if found != {now.life.pid} or now.url != before.url or now.life.pid == before.life.pid:
        raise BrokenPromise(
            f"expected one new process at {before.url}; {name} has {sorted(found)} at {now.url}, "
            f"before it was {before.life.pid}"
        )


@when('service "{name}" has begun life {number:d}', example='service "a" has begun life 2')
async def _(world: World, name: str, number: int) -> None:
    """Wait, for 15 seconds at the most, until it was started so often."""
    async with asyncio.timeout(15):
        while (life := service(world, name).life).number < number or life.pid is None:  # noqa: ASYNC110
            await asyncio.sleep(0.05)  # a store between processes has no event to wait for


@then("staticfire exits with {code:d}", example="staticfire exits with 4")
async def _(world: World, code: int) -> None:
    """The exit status of the last command."""
    here = room(world)
    if here.code != code:
        raise BrokenPromise(f"expected exit status {code}, it is {here.code}; it said: {here.out}")


@then('staticfire says "{words}"', example='staticfire says "not ready yet"')
async def _(world: World, words: str) -> None:
    """What the last command printed, on either output."""
    if words not in room(world).out:
        raise BrokenPromise(f"expected the words {words!r}; it said: {room(world).out}")


@then(
    "staticfire took less than {seconds:g} seconds", example="staticfire took less than 5 seconds"
)
async def _(world: World, seconds: float) -> None:
    """The last command, from its start to its end."""
    took = room(world).took
    if took >= seconds:
        raise BrokenPromise(f"expected less than {seconds:g} s, it took {took:.2f} s")


async def start(world: World, *words: str, home: str = "") -> Any:
    """Start a command in the scenario's state folder, or another one."""
    state = {"STATICFIRE_HOME": home} if home else {}
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "staticfire", *words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**room(world).environ, **state, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip


async def run(world: World, *words: str, home: str = "") -> None:
    """Run a command to its end."""
    here, began = room(world), world.seconds
    process = await start(world, *words, home=home)
    out, _ = await asyncio.wait_for(process.communicate(), 60)
    here.out, here.code, here.took = out.decode(), process.returncode, world.seconds - began


@when(
    'a second service on the port of service "{name}" is served for {seconds:g} seconds',
    example='a second service on the port of service "a" is served for 5 seconds',
)
async def _(world: World, name: str, seconds: float) -> None:
    """Its process lives and does not listen: another one has the port."""
    port = service(world, name).url.rpartition(":")[2]
    await run(
        world, "serve", "second", "--model", MODEL, "--port", port, "--timeout", f"{seconds:g}",
        "--", "sleep", "60",
    )  # fmt: skip


@when(
    'staticfire runs "{words}" in a state folder that cannot be written',
    example='staticfire runs "services list" in a state folder that cannot be written',
)
async def _(world: World, words: str) -> None:
    """The same command where nothing can be kept."""
    await run(world, *shlex.split(words), home="/proc/none")


@given('the record of service "{name}" is torn', example='the record of service "a" is torn')
async def _(world: World, name: str) -> None:
    """Half a record, as a crash of another program leaves it."""
    store = sqlite3.connect(room(world).store.home.store, isolation_level=None)
    store.execute("INSERT OR REPLACE INTO services VALUES (?, 1, '{\"name\": \"to', '{}')", (name,))
    store.close()


@when(
    "a process that lists the services is killed after {seconds:g} seconds",
    example="a process that lists the services is killed after 1 seconds",
)
async def _(world: World, seconds: float) -> None:
    """Kill -9 in the middle of its probe."""
    process = await start(world, "services", "list", "--within", "60")
    await asyncio.sleep(seconds)
    process.kill()
    await process.communicate()
