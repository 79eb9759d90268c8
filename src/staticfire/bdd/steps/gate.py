"""Steps of the gate: waiting for all workers, then starting a command in its place."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import Sequence
from typing import Any

from staticfire import readiness
from staticfire.bdd.step import given, then, when
from staticfire.bdd.world import World
from staticfire.clock import seconds
from staticfire.errors import BrokenPromise

COMMAND = "import os, sys; print('started', os.getpid(), flush=True)"
"""The command behind the gate: it tells its own PID."""


@given("the gate has opened for all engines", example="the gate has opened for all engines")
@when("the gate has opened for all engines", example="the gate has opened for all engines")
async def _(world: World) -> None:
    """Wait until every engine of the scenario serves."""
    await wait(world, 4200.0)
    if not world.facts["gate"].ok:
        raise BrokenPromise(f"the gate did not open: {missing(world)}")


@when(
    "the gate waits up to {limit:g} seconds for all engines",
    example="the gate waits up to 60 seconds for all engines",
)
async def _(world: World, limit: float) -> None:
    """Wait, and keep how it ended."""
    await wait(world, limit)


async def wait(world: World, limit: float) -> None:
    """The gate's core, for all engines of the scenario."""
    urls = [engine.url for engine in world.engines.values()]
    world.facts["gate"] = await readiness.wait_for(urls, timeout=limit)


def missing(world: World) -> str:
    """Who is missing and why, by the engines' names."""
    names = {engine.url: name for name, engine in world.engines.items()}
    return "; ".join(f"{names[t.url]}: {why}" for t, why in world.facts["gate"].missing)


INEXACT = 30.0
"""Seconds by which a gate may open otherwise where time is not virtual."""


@then("the gate opened after {after:g} seconds", example="the gate opened after 12 seconds")
def _(world: World, after: float) -> None:
    """How long it held the launch, to the millisecond; to half a minute where time is not virtual."""
    waited = world.facts["gate"]
    late = seconds(waited.after) - after
    if not waited.ok or abs(late) > (0.0005 if world.exact else INEXACT):
        raise BrokenPromise(
            f"expected the gate to open after {after:g} s; it "
            f"{'opened' if waited.ok else 'gave up'} after {seconds(waited.after):g} s "
            f"{missing(world)}"
        )


@then(
    'the gate did not open, because engine "{name}" {why}',
    example='the gate did not open, because engine "late" refuses connections',
)
def _(world: World, name: str, why: str) -> None:
    """It gave up and names who is missing, with a word of why."""
    told = missing(world)
    if world.facts["gate"].ok or name not in told or why not in told:
        raise BrokenPromise(f"expected engine {name!r} to be missing because it {why}; {told}")


# --- the command, on the real clock


@when(
    "the gate runs with a timeout of {limit:g} seconds",
    example="the gate runs with a timeout of 2 seconds",
)
async def _(world: World, limit: float) -> None:
    """`staticfire gate` in front of a command that tells its PID; wait for its end."""
    await start(world, limit)
    await end(world)


@when(
    'the gate with "{options}" runs with a timeout of {limit:g} seconds',
    example='the gate with "--at-least 1" runs with a timeout of 2 seconds',
)
async def _(world: World, options: str, limit: float) -> None:
    """The same with more options; `pid of NAME` stands for a process that was started."""
    words = re.sub(r"pid of (\w+)", lambda found: of_process(world, found[1]), options).split()
    await start(world, limit, options=words)
    await end(world)


@when(
    'the gate in front of "{command}" runs with a timeout of {limit:g} seconds',
    example='the gate in front of "vllm-router --worker-urls a b" runs with a timeout of 9 seconds',
)
async def _(world: World, command: str, limit: float) -> None:
    """In front of a router's command line: engines' names stand for their URLs, the router for itself.

    A process that tells its PID plays the router; the gate has to find the workers by itself.
    """
    await start(world, limit, command=of_router(world, command))
    await end(world)


@when(
    'the gate with "{options}" in front of "{command}" runs with a timeout of {limit:g} seconds',
    example='the gate with "--at-least 1" in front of "smg launch --worker-urls a b" runs with a '
    "timeout of 9 seconds",
)
async def _(world: World, options: str, command: str, limit: float) -> None:
    """Both: more options, and a router's command line."""
    await start(world, limit, options=options.split(), command=of_router(world, command))
    await end(world)


@when(
    "the gate is started with a timeout of {limit:g} seconds",
    example="the gate is started with a timeout of 20 seconds",
)
async def _(world: World, limit: float) -> None:
    """The same, without waiting for its end: only until it has told about a worker."""
    process = await start(world, limit)
    assert process.stderr is not None
    world.facts["gate said"] = (await process.stderr.readline()).decode()


@when("the gate is sent SIGTERM", example="the gate is sent SIGTERM")
async def _(world: World) -> None:
    """Ask it to stop, and wait for its end."""
    world.facts["gate process"].send_signal(signal.SIGTERM)
    await end(world)


@when("the gate has ended", example="the gate has ended")
async def _(world: World) -> None:
    """Wait for its end, which is the end of the command that it became."""
    await end(world)


@then("the gate is shut", example="the gate is shut")
def _(world: World) -> None:
    """It still waits: it has neither ended nor become the command."""
    process = world.facts["gate process"]
    if process.returncode is not None:
        raise BrokenPromise(f"expected a gate that waits, it exited with {process.returncode}")


@given(
    'a process "{name}" that ends after {seconds:g} seconds',
    example='a process "worker" that ends after 0.5 seconds',
)
async def _(world: World, name: str, seconds: float) -> None:
    """A process of its own, to be told to the gate as a worker's."""
    process = await asyncio.create_subprocess_exec("sleep", f"{seconds:g}")
    world.facts[f"process {name}"] = process

    async def stop() -> None:
        if process.returncode is None:
            process.kill()
        await process.wait()

    world.defer(stop)


def of_process(world: World, name: str) -> str:
    """`URL=PID` of a worker that is named as its process is."""
    return f"{world.engine(name).url}={world.facts[f'process {name}'].pid}"


def of_router(world: World, command: str) -> list[str]:
    """A router's command line, with the URLs of engines for their names."""

    def url(found: re.Match[str]) -> str:
        return world.engines[found[0]].url if found[0] in world.engines else found[0]

    return [re.sub(r"(?<!-)\b[\w-]+$", url, word) for word in command.split()]


async def start(
    world: World, limit: float, *, options: Sequence[str] = (), command: Sequence[str] = ()
) -> asyncio.subprocess.Process:
    """Start the gate as a process."""
    workers = [arg for engine in world.engines.values() for arg in ("--worker", engine.url)]
    words = [*options, "--timeout", f"{limit:g}", *([] if command else workers)]
    words += world.lane.key.words
    gate = [sys.executable, "-m", "staticfire", "gate", *words]
    process = await asyncio.create_subprocess_exec(
        *gate, "--", sys.executable, "-c", COMMAND, *command,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    world.facts["gate process"], world.facts["gate began"] = process, world.seconds

    async def stop() -> None:
        if process.returncode is None:
            process.kill()
            await process.wait()

    world.defer(stop)
    return process


async def end(world: World) -> None:
    """Wait for the gate's end, keep what it printed."""
    process: Any = world.facts["gate process"]
    out, err = await asyncio.wait_for(process.communicate(), 30)
    world.facts["gate took"] = world.seconds - world.facts["gate began"]
    world.facts["gate out"] = out.decode()
    world.facts["gate err"] = world.facts.get("gate said", "") + err.decode()


def told(world: World) -> str:
    """What the gate printed, for a message."""
    return f"stdout: {world.facts['gate out']!r}, stderr: {world.facts['gate err']!r}"


@then(
    "the command runs in the gate's own process",
    example="the command runs in the gate's own process",
)
def _(world: World) -> None:
    """The same PID: the gate has become the command."""
    pid = world.facts["gate process"].pid
    if f"started {pid}" not in world.facts["gate out"]:
        raise BrokenPromise(f"expected the command in process {pid}; {told(world)}")


@then("the command never starts", example="the command never starts")
def _(world: World) -> None:
    """Nothing of it was seen."""
    if "started" in world.facts["gate out"]:
        raise BrokenPromise(f"expected no start; {told(world)}")


@then("the gate exits with {code:d}", example="the gate exits with 1")
def _(world: World, code: int) -> None:
    """Its exit code, as a shell would see it."""
    found = world.facts["gate process"].returncode
    found = 128 - found if found < 0 else found
    if found != code:
        raise BrokenPromise(f"expected exit code {code}, it is {found}; {told(world)}")


@then(
    'the gate names engine "{name}" as missing', example='the gate names engine "late" as missing'
)
def _(world: World, name: str) -> None:
    """A line of its own for each worker that never came, with why."""
    url = world.engine(name).url
    lines = [line for line in world.facts["gate err"].splitlines() if url in line]
    if not lines:
        raise BrokenPromise(f"expected a line that names {url}; {told(world)}")


@then(
    'the gate\'s last line is like "{form}"',
    example='the gate\'s last line is like "All 2 workers healthy after Ns"',
)
def _(world: World, form: str) -> None:
    """The exact form of its last line; N stands for whole seconds."""
    last = world.facts["gate err"].strip().splitlines()[-1]
    pattern = re.escape(form).replace("Ns", r"\d+s")
    if not re.fullmatch(pattern, last):
        raise BrokenPromise(f"expected a last line like {form!r}, it is {last!r}")


@then('the gate tells "{words}"', example='the gate tells "is dead"')
def _(world: World, words: str) -> None:
    """Words that it printed."""
    if words not in world.facts["gate err"]:
        raise BrokenPromise(f"expected the words {words!r}; {told(world)}")


@then("the gate ended within {seconds:g} seconds", example="the gate ended within 10 seconds")
def _(world: World, seconds: float) -> None:
    """From its start to its end, on the real clock."""
    took = world.facts["gate took"]
    if took > seconds:
        raise BrokenPromise(f"expected an end within {seconds:g} s, it took {took:.1f} s")
