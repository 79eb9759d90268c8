"""Steps of every path that can say "ready": they say the same of one engine."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from staticfire import readiness
from staticfire.bdd.step import then
from staticfire.bdd.world import MODEL, World
from staticfire.errors import BrokenPromise
from staticfire.judge import Judge
from staticfire.services.check import Checker
from staticfire.services.decide import Facts
from staticfire.services.home import Home
from staticfire.services.service import Service
from staticfire.services.store import Store

PATIENT = 0.8
"""Seconds that a probe of these steps takes at most."""

CHECKED = 9.0
"""Seconds after which a router has checked its worker once, with a deadline of 8 s."""

SETTINGS = readiness.Settings(probe_deadline=PATIENT, probe_budget=PATIENT)


async def library(_: World, url: str) -> str:
    """`readiness.probe`."""
    evidence = await readiness.probe(url, MODEL, deadline=PATIENT)
    return evidence.verdict.value


async def watch(_: World, url: str) -> str:
    """`readiness.Watch`, as services and router have it."""
    record = await readiness.Watch(url, MODEL, settings=SETTINGS).check()
    return record.verdict.value if record.verdict else "none"


async def listed(_: World, url: str) -> str:
    """`readiness.check_all`, as a list of services asks."""
    (record,) = await readiness.check_all([readiness.Watch(url, MODEL, settings=SETTINGS)])
    return record.verdict.value if record.verdict else "none"


async def gate(_: World, url: str) -> str:
    """The gate's core: it opens for one that serves, and for no other."""
    waited = await readiness.wait_for([url], model=MODEL, timeout=2 * PATIENT, settings=SETTINGS)
    return "serving" if waited.ok else "not serving"


async def router(world: World, url: str) -> str:
    """A router's `/workers`, and a request through it."""
    own = world.router_factory.make([url], {})
    await own.start()
    try:
        await asyncio.sleep(CHECKED)
        judge = Judge(own.url)
        (worker,) = (await judge.ask("GET", "/workers")).json()["workers"]
        answer = await judge.chat(MODEL)
    finally:
        await own.stop()
    if worker["serving"] != answer.ok:
        raise BrokenPromise(f"the router says {worker}, and answers {answer}")
    return str(worker["verdict"])


class Standing:
    """A machine on which the one service runs, whoever started it."""

    def refresh(self) -> None:
        pass

    def look(self, service: Service) -> Facts:
        del service
        return Facts(alive=True)

    def owner(self, service: Service) -> None:
        del service

    async def watch(self, service: Service, seconds: float) -> None:
        raise NotImplementedError

    async def start(self, service: Service, environ: Mapping[str, str]) -> tuple[int, int]:
        raise NotImplementedError

    async def end(self, service: Service) -> None:
        raise NotImplementedError


async def services(_: World, url: str) -> str:
    """A service's check in a fresh store, as `staticfire services list` makes it."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Home(Path(folder)))
        store.add(Service("one", ("engine",), url, model=MODEL), {})
        checked = await Checker(store, Standing(), promotes=True).check("one")
        store.close()
    return checked.found.verdict.value if checked.found else "none"


async def commands(url: str) -> tuple[str, str]:
    """`staticfire probe` and `staticfire gate`, as processes."""
    asked = await run("probe", url, "--model", MODEL, "--deadline", f"{PATIENT:g}", "--json")
    held = await run(
        "gate", "--worker", url, "--model", MODEL, "--timeout", "1",
        "--probe-deadline", f"{PATIENT:g}", "--", sys.executable, "-c", "print('started')",
    )  # fmt: skip
    return json.loads(asked)["verdict"], "serving" if "started" in held else "not serving"


async def run(*command: str) -> str:
    """What a command prints on standard output."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "staticfire", *command,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL, env=dict(os.environ),
    )  # fmt: skip
    out, _ = await process.communicate()
    return out.decode()


PATHS: dict[str, Callable[[World, str], Awaitable[str]]] = {
    "probe": library,
    "watch": watch,
    "list": listed,
    "gate": gate,
    "router": router,
    "services": services,
}
"""Every way to ask in one process. A gate only says whether it opened."""


def check(found: dict[str, str], verdict: str) -> None:
    """Hold the promise that nobody says otherwise."""
    opens = "serving" if verdict == "serving" else "not serving"
    wrong = {
        path: said
        for path, said in found.items()
        if said != (opens if path.startswith("gate") else verdict)
    }
    if wrong:
        raise BrokenPromise(f"expected every path to say {verdict}; otherwise say {wrong}")


@then(
    'every path says {verdict} of engine "{name}"',
    example='every path says serving of engine "one"',
)
async def _(world: World, verdict: str, name: str) -> None:
    """The library's probe, a watch, a list, the gate, a service, the router and a request to it."""
    url = world.engine(name).url
    check({path: await ask(world, url) for path, ask in PATHS.items()}, verdict)


@then(
    'every command says {verdict} of engine "{name}"',
    example='every command says serving of engine "one"',
)
async def _(world: World, verdict: str, name: str) -> None:
    """`staticfire probe` and `staticfire gate`."""
    said, opened = await commands(world.engine(name).url)
    check({"probe": said, "gate": opened}, verdict)
