"""The log of an engine: its standard output and error in a file that does not grow for ever."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

__all__ = ["KEPT", "LARGEST", "opened", "rotate", "size", "tail", "trim"]

KEPT = 3
"""Older logs that are kept, as `.1`, `.2`, `.3`."""

LARGEST = 16 << 20
"""A log of more bytes is moved on while its engine writes."""


def rotate(path: Path) -> None:
    """Move a log and its elders on by one: the next life begins an empty one."""
    if not path.exists():
        return
    for number in range(KEPT - 1, 0, -1):
        with contextlib.suppress(FileNotFoundError):
            _old(path, number).replace(_old(path, number + 1))
    path.replace(_old(path, 1))


def opened(path: Path) -> int:
    """A file descriptor to append to: writes go to the end also after the file was trimmed."""
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)


def trim(path: Path, largest: int = LARGEST) -> bool:
    """Copy a log that is too large aside, then empty it; True when that was done.

    Its engine holds the file open and cannot be told of a new one. What it writes between the copy
    and the emptying is lost.
    """
    if size(path) <= largest:
        return False
    for number in range(KEPT - 1, 0, -1):
        with contextlib.suppress(FileNotFoundError):
            _old(path, number).replace(_old(path, number + 1))
    shutil.copyfile(path, _old(path, 1))
    os.truncate(path, 0)
    return True


def size(path: Path) -> int:
    """Its length in bytes; 0 where there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def tail(path: Path, lines: int, most: int = 64 << 10, upto: int | None = None) -> list[str]:
    """The last lines, readable on a terminal: the last word of a line that was written over.

    `upto` is how much of the file there is to be read of, `most` how much of that.
    """
    try:
        with path.open("rb") as file:
            file.seek(0, os.SEEK_END)
            end = file.tell() if upto is None else min(upto, file.tell())
            start = max(0, end - most)
            file.seek(start)
            data = file.read(end - start)
    except OSError:
        return []
    if start:
        data = data.partition(b"\n")[2]
    text = data.decode("utf-8", "replace")
    shown = (line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    clean = ["".join(c if c.isprintable() or c == "\t" else "?" for c in one) for one in shown]
    while clean and not clean[-1].strip():
        clean.pop()
    return clean[-lines:] if lines else []


def _old(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.{number}")
