"""The lane of `transformers serve`, with a tiny model whose words are known.

It lists every model of its cache from the first second and loads one with the first request for it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from staticfire.errors import WrongInput
from staticfire.stand.lanes.command import StartedEngine
from staticfire.stand.lanes.found import Program, find_program, lacking
from staticfire.stand.lanes.hf import link_cache, write_cache
from staticfire.stand.lanes.own_model import OwnModelLane

__all__ = ["TransformersLane"]

PROGRAM = "transformers"
NEEDS = ("torch", "transformers", "fastapi", "uvicorn", "requests")
"""What has to be there besides the program: its `serve` imports them."""

INSTALL = (
    "pip install 'transformers[serving]' torch requests, or name an environment that has them with "
    "`venv` in [tool.staticfire.lanes.NAME]"
)
MAIN = "import sys; from transformers.cli.transformers import main; sys.exit(main())"
"""The program, for an interpreter that has no script of it."""
LAZY = 1_000_000
"""Idle words of a model that is loaded with its first request."""


class TransformersLane(OwnModelLane):
    """Starts `transformers serve` on the CPU, or on the GPU that `device` names.

    `venv` is the environment that has it; without it, the one whose program is on PATH. `path` is the
    folder of a model; without it, the tiny one that we write.
    """

    kind = "transformers"

    def __init__(
        self,
        venv: str = "",
        path: str = "",
        model: str = "qwen",
        device: str = "",
        start_within: float = 180.0,
        env: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        if path and not (Path(path).expanduser() / "config.json").is_file():
            raise WrongInput("path", expected="a model folder with config.json", found=repr(path))
        self._venv, self._path = venv, path
        self._program = find_program(PROGRAM, venv) or _bare(venv)
        start = self._start()
        on = "cuda:0" if device else "cpu"
        words = ["serve", "--host", "127.0.0.1", "--port", "{port}", "--device", on]
        super().__init__(
            [*start, *words], model=model, device=device, start_within=start_within, env=env,
            personality="transformers", **options,
        )  # fmt: skip

    def missing(self) -> str | None:
        if self._program is None:
            where = f"in {self._venv}" if self._venv else "on PATH"
            return f"there is no program {PROGRAM} {where}: {INSTALL}"
        without = lacking(self._program.python, NEEDS)
        if without:
            return f"{self._program.python} has no {', '.join(without)}: {INSTALL}"
        return None

    async def look(self) -> None:
        await super().look()
        self.capabilities |= {"unloaded"}

    async def start_unloaded(self, name: str, model: str, seed: int) -> StartedEngine:
        """A server of its own, which has listed the model and has not loaded it."""
        del model, seed
        environ = {**os.environ, **self.environ(), "HF_HOME": str(self._cache(LAZY))}
        service = await self._served.start(self.words(), self.model, environ, proven=False)
        return StartedEngine(name, service, self, again=False)

    def environ(self) -> dict[str, str]:
        return {**super().environ(), "HF_HOME": str(self._cache())}

    def _cache(self, idle: int = 0) -> Path:
        home = self.folder() / f"cache-{idle}"
        if not home.exists():
            if self._path and not idle:
                link_cache(home, self.model, Path(self._path).expanduser())
            else:
                write_cache(home, self.model, idle)
        return home

    def _start(self) -> list[str]:
        found = self._program
        if found is None:
            return [PROGRAM]
        return [found.path] if found.path else [found.python, "-c", MAIN]

    def _torch(self) -> str:
        return "" if self._program is None else self._program.python


def _bare(venv: str) -> Program | None:
    """The interpreter of an environment without the script: the package may be the machine's."""
    python = Path(venv).expanduser().absolute() / "bin" / "python"
    return Program("", str(python)) if venv and python.exists() else None
