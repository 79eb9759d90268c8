"""The lane of a real llama.cpp server, with a tiny model whose words are known."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO

from staticfire.errors import StaticFireError
from staticfire.stand.lanes.gguf import write_scripted

__all__ = ["LlamaCppLane"]

INSTALL = "the llama.cpp wheel is not installed: pip install 'staticfire[llamacpp]'"
START = 60.0
"""Seconds that a server may take to serve a tiny model (1.0 to 1.4 s were measured)."""


class LlamaCppEngine:
    """One server process, lent to a scenario under the scenario's name."""

    def __init__(self, name: str, process: _Process, lane: LlamaCppLane) -> None:
        self.name, self.url = name, process.url
        self._process, self._lane = process, lane

    async def stop(self) -> None:
        """Give the process back: a server that served is as good as a new one."""
        self._lane.give_back(self._process)

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
    capabilities = frozenset({"listing", "chat", "stream", "metrics"})

    def __init__(self, slots: int = 2) -> None:
        self._slots = slots
        self._idle: list[_Process] = []
        self._all: list[_Process] = []
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def missing(self) -> str | None:
        return None if importlib.util.find_spec("xllamacpp") else INSTALL

    async def start(self, name: str, model: str, seed: int) -> LlamaCppEngine:
        """A server of the scripted model under the name `model`; raises `StaticFireError`."""
        del seed  # the scripted model answers every prompt alike
        idle = next((process for process in self._idle if process.alias == model), None)
        if idle is not None:
            self._idle.remove(idle)
            return LlamaCppEngine(name, idle, self)
        process = _Process(self._model(), model, self._slots)
        self._all.append(process)
        await asyncio.wait_for(asyncio.to_thread(process.wait_until_it_serves), START)
        return LlamaCppEngine(name, process, self)

    def give_back(self, process: _Process) -> None:
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

    def _model(self) -> Path:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="staticfire-llamacpp-")
        path = Path(self._folder.name) / "scripted.gguf"
        if not path.exists():
            write_scripted(path)
        return path


class _Process:
    """A server process with its log."""

    def __init__(self, model: Path, alias: str, slots: int) -> None:
        self.alias, self.url = alias, ""
        self._log: IO[str] = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed by `end`
        module = "staticfire.stand.lanes.llamacpp_server"
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-m", module, str(model), alias, str(slots)],
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
        self._log.seek(0)
        return self._log.read().splitlines()[-30:]

    def end(self) -> None:
        """Close its standard input and wait; kill it where that is not enough."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._log.close()
