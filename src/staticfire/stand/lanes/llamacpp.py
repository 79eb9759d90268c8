"""The lane of a real llama.cpp server, with a tiny model whose words are known."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from staticfire.errors import StaticFireError
from staticfire.stand.lanes.base import NO_KEY
from staticfire.stand.lanes.gguf import write_scripted

__all__ = ["START", "LlamaCppEngine", "LlamaCppLane", "Process", "guard"]

INSTALL = "the llama.cpp wheel is not installed: pip install 'staticfire[llamacpp]'"
SERVER = "staticfire.stand.lanes.llamacpp_server"
START = 60.0
"""Seconds that a server may take to serve a tiny model (1.0 to 1.4 s were measured)."""
IDLE = 250_000
"""Idle words of a model that takes seconds to load: 2 to 4 s."""
NEEDED = 1 << 30
"""Memory to have before such a model is loaded, in bytes: it takes a third of that."""


class LlamaCppEngine:
    """One server process, lent to a scenario under the scenario's name."""

    def __init__(
        self, name: str, process: Process, lane: LlamaCppLane, *, again: bool = True
    ) -> None:
        self.name, self.url = name, process.url
        self._process, self._lane, self._again = process, lane, again

    async def stop(self) -> None:
        """Give the process back: a server that served is as good as a new one, if it may `again`."""
        if self._again:
            self._lane.give_back(self._process)
        else:
            self._process.end()

    def timeline(self) -> list[str]:
        """The end of the server's log."""
        return self._process.tail()


class LoadingEngine:
    """A server process that was not waited for: it takes seconds to load its model."""

    def __init__(self, name: str, process: Process, guard: socket.socket) -> None:
        self.name, self.url = name, f"http://127.0.0.1:{guard.getsockname()[1]}"
        self._process, self._guard = process, guard

    async def wait_until_it_listens(self) -> None:
        """Return when its port is open; raises `StaticFireError` when it dies first."""
        while True:
            try:
                _, writer = await asyncio.open_connection(*self._guard.getsockname())
            except ConnectionRefusedError:
                if not self._process.alive:
                    self._process.wait_until_it_serves()
                await asyncio.sleep(0.01)
            else:
                writer.close()
                return

    async def stop(self) -> None:
        """Kill it: while it loads it hears nobody."""
        self._process.end(grace=0)
        self._guard.close()

    def timeline(self) -> list[str]:
        """The end of the server's log."""
        return self._process.tail()


class LlamaCppLane:
    """Starts llama.cpp servers, keeps them for the run, ends them with it.

    `slots` is how many requests one server answers side by side.
    """

    kind = "llamacpp"
    virtual = False
    personality = "llamacpp"
    capabilities = frozenset(
        {"listing", "chat", "stream", "refusals", "metrics", "loading", "command"}
    )
    model = ""
    key = NO_KEY

    server = SERVER
    """The module that runs a server as a process; see `llamacpp_server` for what it has to do."""

    def __init__(self, slots: int = 2) -> None:
        self._slots = slots
        self._idle: list[Process] = []
        self._all: list[Process] = []
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def prepare(self) -> None:
        """Nothing is asked: what it can do is known."""

    def missing(self) -> str | None:
        return None if importlib.util.find_spec("xllamacpp") else INSTALL

    async def start(self, name: str, model: str, seed: int) -> LlamaCppEngine:
        """A server of the scripted model under the name `model`; raises `StaticFireError`."""
        del seed  # the scripted model answers every prompt alike
        idle = next((process for process in self._idle if process.alias == model), None)
        if idle is not None:
            self._idle.remove(idle)
            return LlamaCppEngine(name, idle, self)
        process = self._process(self._model(), model)
        await asyncio.wait_for(asyncio.to_thread(process.wait_until_it_serves), START)
        return LlamaCppEngine(name, process, self)

    def too_small(self) -> str | None:
        have = _memory()
        if have is None or have >= NEEDED:
            return None
        return (
            f"a model that loads slowly needs {NEEDED / 1e9:.1f} GB of memory, "
            f"{have / 1e9:.1f} GB are available"
        )

    async def start_loading(self, name: str, model: str, seed: int) -> LoadingEngine:
        """A server of the scripted model with idle words, as soon as its port is open."""
        del seed
        held = guard()
        process = self._process(self._model(IDLE), model, held.getsockname()[1])
        engine = LoadingEngine(name, process, held)
        try:
            await asyncio.wait_for(engine.wait_until_it_listens(), START)
        except BaseException:
            await engine.stop()
            raise
        return engine

    async def start_unloaded(self, name: str, model: str, seed: int) -> LlamaCppEngine:
        """Nothing of that kind is here: a server lists what it has loaded."""
        del model, seed
        raise StaticFireError(f"engine {name!r}: this lane lists no model before it is loaded")

    def command(self, model: str) -> tuple[str, ...]:
        """The server without our hold on it."""
        return (*self._words(self._model(), model, "{port}"), "for ever")

    def give_back(self, process: Process) -> None:
        """Keep a server for the next scenario, if it still lives."""
        if process.alive:
            self._idle.append(process)

    def close(self) -> None:
        """End every server and remove the model."""
        for process in self._all:
            process.end()
        self._all, self._idle = [], []
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _words(self, model: Path, alias: str, port: str) -> list[str]:
        return [sys.executable, "-m", self.server, str(model), alias, str(self._slots), port]

    def _process(self, model: Path, alias: str, port: int = 0) -> Process:
        process = Process(self._words(model, alias, str(port)), alias)
        self._all.append(process)
        return process

    def _model(self, idle: int = 0) -> Path:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="staticfire-llamacpp-")
        path = Path(self._folder.name) / f"scripted-{idle}.gguf"
        if not path.exists():
            write_scripted(path, idle)
        return path


class Process:
    """A server process with its log."""

    def __init__(self, words: Sequence[str], alias: str) -> None:
        self.alias, self.url = alias, ""
        self._log: IO[str] = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed by `end`
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            start_new_session=True,  # Ctrl-C is the parent's; its end closes our standard input
        )

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def wait_until_it_serves(self) -> None:
        """Read its one line; raises `StaticFireError` with the log's tail when it dies first."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            log = "\n".join(self.tail()[-12:])
            raise StaticFireError(f"the llama.cpp server died at its start (exit {code}):\n{log}")
        self.url = json.loads(line)["url"]

    def tail(self) -> list[str]:
        """The last lines of its log."""
        if self._log.closed:
            return []
        self._log.seek(0)
        return self._log.read().splitlines()[-30:]

    def end(self, grace: float = 5.0) -> None:
        """Close its standard input and wait; kill it and its own where that is not enough."""
        if self._log.closed:
            return
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(grace)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._process.stdout.close()
        self._log.close()


def guard() -> socket.socket:
    """A port that nobody is given while it is open, and that a server may listen on.

    It is bound and never listens; llama.cpp binds with SO_REUSEPORT, where there is one.
    """
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if hasattr(socket, "SO_REUSEPORT"):
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    held.bind(("127.0.0.1", 0))
    return held


def _memory() -> int | None:
    """Bytes of memory that a new process can have; None where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    sizes = dict(line.split(":", 1) for line in lines)
    return int(sizes["MemAvailable"].split()[0]) * 1024
