"""What services cost: a store with four writers, a list from a cold start, half of them hanging."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from bench.figure import Figure
from bench.process import ROOT
from staticfire.clock import NS, current
from staticfire.clock.virtual import run
from staticfire.engine import Loading, MockEngine, NeverAnswers, Script, Serving
from staticfire.services.check import Checker
from staticfire.services.decide import begun, started
from staticfire.services.home import Home
from staticfire.services.launch import Launcher, plan
from staticfire.services.processes import read
from staticfire.services.service import Service
from staticfire.services.store import Store
from staticfire.stand.mock_host import MockHost

__all__ = ["TINY", "measure"]

TINY = {"runs": 1, "writes": 20, "count": 4, "many": 6}

WRITER = """
import sys
from dataclasses import replace
from pathlib import Path
from staticfire.services.home import Home
from staticfire.services.store import Store
store = Store(Home(Path(sys.argv[1])))
print(flush=True)
sys.stdin.readline()
for _ in range(int(sys.argv[2])):
    store.change("s0", lambda s: replace(s, restarts=s.restarts + 1))
"""

DEADLINE = 8.0


def measure(runs: int = 3, writes: int = 1000, count: int = 50, many: int = 100) -> list[Figure]:
    checked = [run(_check(many)) for _ in range(runs)]
    return [
        Figure(
            "one checked write of four processes that write one record",
            "ms", tuple(_write(writes) for _ in range(runs)), 1.0,
        ),
        Figure(
            f"`services list` with {count} services that are ready, from a cold start",
            "s", tuple(_list(count) for _ in range(runs)), 0.3,
        ),
        Figure(
            f"a check of {many} services of which half hang, in virtual time",
            "s", tuple(took for took, _ in checked), DEADLINE * 1.1,
        ),
        Figure(
            "requests for the next check of one that is ready",
            "requests", tuple(asked for _, asked in checked), 1.0,
        ),
    ]  # fmt: skip


def _write(writes: int) -> float:
    """Milliseconds between two writes, all four writers together."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Home(Path(folder)))
        store.add(_service("s0", 1), {})
        words = [sys.executable, "-c", WRITER, folder, str(writes)]
        pipe = subprocess.PIPE
        writers = [
            subprocess.Popen(words, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) for _ in range(4)
        ]
        for writer in writers:
            assert writer.stdout is not None
            writer.stdout.readline()
        began = time.perf_counter()
        for writer in writers:
            assert writer.stdin is not None
            writer.stdin.write("\n")
            writer.stdin.flush()
        for writer in writers:
            writer.communicate()
        took = time.perf_counter() - began
        assert store.get("s0").restarts == 4 * writes, "a write was lost"
        store.close()
    return took / (4 * writes) * 1e3


def _list(count: int) -> float:
    """Seconds of one `services list`: its process, a listing of each, what it prints."""
    with tempfile.TemporaryDirectory() as folder:
        environ = os.environ | {"STATICFIRE_HOME": folder}
        engine = subprocess.Popen(
            [sys.executable, "-m", "staticfire", "engine", "--model", "m"],
            cwd=ROOT, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            assert engine.stdout is not None
            port = int(engine.stdout.readline().partition('"port": ')[2].partition(",")[0])
            store = Store(Home(Path(folder)))
            alive = read(engine.pid)
            assert alive is not None
            for number in range(count):
                store.add(_service(f"s{number}", port), {})
                store.change(
                    f"s{number}",
                    lambda s: started(begun(s, "n", 1), alive.pid, alive.start, current().boot()),
                )
            store.close()
            words = [sys.executable, "-m", "staticfire", "services", "list"]
            subprocess.run(words, cwd=ROOT, env=environ, check=True, stdout=subprocess.PIPE)
            began = time.perf_counter()
            done = subprocess.run(
                words, cwd=ROOT, env=environ, check=True, capture_output=True, text=True
            )
            took = time.perf_counter() - began
            assert f"{count} ready" in done.stdout, done.stdout
        finally:
            engine.terminate()
            engine.communicate()
    return took


async def _check(many: int) -> tuple[float, float]:
    """Virtual seconds of a check of all, half of them hung; requests of the next for one ready."""
    with tempfile.TemporaryDirectory() as folder:
        store, host = Store(Home(Path(folder))), MockHost()
        launcher, checker = Launcher(store, host), Checker(store, host, promotes=True)
        engines = []
        for number in range(many):
            hangs = [Loading(chat=NeverAnswers())]
            life = hangs if number % 2 else [Serving()]
            engine = MockEngine(Script(model="m", life=life), name=f"s{number}")
            await engine.start()
            engines.append(engine)
            host.add(engine.name, engine)
            await launcher.serve(plan(engine.name, ("x",), url=engine.url, model="m"), {})
        began = current().now()
        until = began + round(DEADLINE * NS)
        await asyncio.gather(*(checker.check(e.name, until=until) for e in engines))
        took = (current().now() - began) / NS
        before = len(engines[0].journal.requests())
        await checker.check("s0")
        asked = len(engines[0].journal.requests()) - before
        await asyncio.sleep(0.1)
        for engine in engines:
            await engine.stop()
        store.close()
    return took, float(asked)


def _service(name: str, port: int) -> Service:
    made = plan(name, ("x",), url=f"http://127.0.0.1:{port}", model="m")
    return replace(made, log="/none")
