"""Programs of a Python environment: where they lie, which interpreter runs them, what it has."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Program", "find_program", "lacking"]

PATIENCE = 60.0
"""Seconds that an interpreter may take to say what it has; it imports nothing for that."""


@dataclass(frozen=True, slots=True)
class Program:
    """A script of a Python environment, "" where it has none, and that environment's interpreter."""

    path: str
    python: str


def find_program(name: str, venv: str = "") -> Program | None:
    """The script `name` of a virtual environment, or the one on PATH; None when there is none."""
    place = str(Path(venv).expanduser().absolute() / "bin") if venv else None
    found = shutil.which(name, path=place)
    if found is None:
        return None
    return Program(found, _interpreter(Path(found)))


def _interpreter(script: Path) -> str:
    """By the script's first line: what is on PATH may be a link to another environment."""
    with script.open("rb") as file:
        first = file.readline(512)
    words = first[2:].decode("utf-8", "replace").split() if first.startswith(b"#!") else []
    if words and "python" in Path(words[0]).name:
        return words[0]
    return str(script.resolve().parent / "python3")


def lacking(python: str, modules: Iterable[str]) -> list[str]:
    """Which of these modules an interpreter has not; all of them where it does not run."""
    wanted = list(modules)
    code = (
        "import importlib.util as u, sys; "
        "print(*(m for m in sys.argv[1:] if u.find_spec(m) is None))"
    )
    try:
        said = subprocess.run(  # noqa: S603 - the interpreter of the program that the lane starts
            [python, "-c", code, *wanted],
            capture_output=True, text=True, timeout=PATIENCE, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return wanted
    return said.stdout.split()
