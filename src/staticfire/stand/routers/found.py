"""Where routers lie on this machine, and of which version they are."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from staticfire.stand.routers.entry import Entry

__all__ = ["BIN", "find", "version_of"]

BIN = "STATICFIRE_ROUTER_BIN"
"""Folders with routers, as PATH has them; `--router-bin` adds one."""

_NUMBER = re.compile(r"\d+(?:\.\d+)+[\w.+~-]*")


def find(entry: Entry, folders: Iterable[str | Path] = ()) -> Path | None:
    """The router's program: in its `venv`, then in the folders, then on PATH.

    A folder may hold the program, a `bin`, or virtual environments by the routers' names.
    """
    program = entry.program
    if os.sep in program:
        path = Path(program).expanduser()
        return path.absolute() if _runs(path) else None
    named = [entry.venv] if entry.venv else []
    for folder in (*named, *folders, *filter(None, os.environ.get(BIN, "").split(os.pathsep))):
        at = Path(folder).expanduser().absolute()
        for path in (at / entry.name / "bin" / program, at / "bin" / program, at / program):
            if _runs(path):
                return path
    found = shutil.which(program)
    return Path(found) if found else None


def _runs(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def version_of(entry: Entry, program: Path) -> str:
    """Its exact version, or `unknown`: that of its Python package, or as it prints it itself."""
    if entry.package:
        name = re.sub(r"[-_.]+", "_", entry.package)
        for prefix in dict.fromkeys((program.parents[1], program.resolve().parents[1])):
            for info in prefix.glob(f"lib/python*/site-packages/{name}-*.dist-info"):
                return info.name.removeprefix(f"{name}-").removesuffix(".dist-info")
    if entry.version:
        words = shlex.split(entry.version)
        try:
            shown = subprocess.run(  # noqa: S603 - the entry's own command
                [str(program), *words[1:]], capture_output=True, text=True, timeout=20, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return "unknown"
        match = _NUMBER.search(shown.stdout + shown.stderr)
        return match[0] if match else "unknown"
    return "unknown"
