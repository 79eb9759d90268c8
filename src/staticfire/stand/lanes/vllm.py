"""The lane of `vllm serve`, of a virtual environment that is named, without a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from staticfire.errors import WrongInput
from staticfire.stand.lanes.found import find_program
from staticfire.stand.lanes.hf import write_model
from staticfire.stand.lanes.own_model import OwnModelLane

__all__ = ["VllmLane"]

PROGRAM = "vllm"
INSTALL = 'name the environment that has it: venv = "…" in [tool.staticfire.lanes.vllm]'

QUIET: Mapping[str, str] = {"VLLM_NO_USAGE_STATS": "1", "VLLM_HOST_IP": "127.0.0.1"}

ON_CPU: Mapping[str, str] = {
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "OMP_NUM_THREADS": "1",
}
"""Without a GPU: one GiB of cache, one thread that is bound to no core."""


class VllmLane(OwnModelLane):
    """Starts `vllm serve` of the environment `venv`.

    `path` is the folder of a model; without it, the tiny one that we write. `arguments` are added to
    the command. With `device` it runs on that GPU, without it on the CPU.
    """

    kind = "vllm"

    def __init__(
        self,
        venv: str = "",
        path: str = "",
        arguments: Sequence[str] = (),
        model: str = "qwen",
        device: str = "",
        start_within: float = 600.0,
        grace: float = 10.0,
        env: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        if isinstance(arguments, str) or not all(isinstance(one, str) for one in arguments):
            raise WrongInput("arguments", expected="a list of words", found=repr(arguments))
        if path and not (Path(path).expanduser() / "config.json").is_file():
            raise WrongInput("path", expected="a model folder with config.json", found=repr(path))
        self._venv, self._path, self._arguments = venv, path, tuple(arguments)
        self._program = find_program(PROGRAM, venv) if venv else None
        own = {} if device else ON_CPU
        super().__init__(
            ("vllm", "{port}"), model=model, device=device, start_within=start_within,
            grace=grace, env={**QUIET, **own, **(env or {})}, personality="vllm", **options,
        )  # fmt: skip

    def missing(self) -> str | None:
        if not self._venv:
            return f"no environment with vLLM is named: {INSTALL}"
        if self._program is None:
            return f"there is no program {PROGRAM} in {self._venv}: {INSTALL}"
        return None

    def words(self) -> list[str]:
        program = PROGRAM if self._program is None else self._program.path
        return [
            program, "serve", str(self._model()), "--served-model-name", "{model}",
            "--host", "127.0.0.1", "--port", "{port}", "--max-model-len", "2048",
            "--max-num-seqs", "8", "--enforce-eager", *self._arguments,
        ]  # fmt: skip

    def _model(self) -> Path:
        if self._path:
            return Path(self._path).expanduser().absolute()
        folder = self.folder() / "model"
        if not folder.exists():
            folder.mkdir()
            write_model(folder)
        return folder

    def _torch(self) -> str:
        return "" if self._program is None else self._program.python
