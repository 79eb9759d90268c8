"""Processes of their own: a sample in a fresh interpreter, a server whose CPU can be asked."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

__all__ = ["ROOT", "Server", "sample"]

ROOT = Path(__file__).parents[1]


def sample(function: str, *, fresh: bool = True, **options: Any) -> Any:
    """What `module:function` returns, called in a fresh interpreter unless told otherwise."""
    if not fresh:
        return _call(function, options)
    words = [sys.executable, "-m", "bench.process", function, json.dumps(options)]
    done = subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def _call(function: str, options: dict[str, Any]) -> Any:
    module, _, name = function.partition(":")
    return getattr(importlib.import_module(module), name)(**options)


class Server:
    """A server of `bench/serve.py` in a process of its own, which ends with this one."""

    def __init__(self, kind: str, **options: Any) -> None:
        words = [sys.executable, "-m", "bench.serve", kind, json.dumps(options)]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(words, cwd=ROOT, stdin=pipe, stdout=pipe, text=True)
        self._port = 0

    @property
    def port(self) -> int:
        """Its port; waits until it serves."""
        if not self._port:
            self._port = int(self._line())
        return self._port

    @property
    def ports(self) -> list[int]:
        """The ports of a kind that has several; to be asked once."""
        ports: list[int] = json.loads(self._line())
        return ports

    def cpu(self) -> float:
        """CPU seconds of the server so far, user and system."""
        assert self._process.stdin is not None
        self._process.stdin.write("cpu\n")
        self._process.stdin.flush()
        return int(self._line()) / 1e9

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the server ended by itself: {self._process.args!r}")
        return line

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._process.communicate()  # closes its input, which is its end


if __name__ == "__main__":
    print(json.dumps(_call(sys.argv[1], json.loads(sys.argv[2]))))
