"""What a process and its children cost, read from /proc (Linux)."""

from __future__ import annotations

from pathlib import Path

__all__ = ["cpu", "memory", "pids"]


def pids(root: int) -> list[int]:
    """The process and all that descend from it."""
    found, new = [], [root]
    while new:
        pid = new.pop()
        found.append(pid)
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            new += map(int, _read(children).split())
    return found


def cpu(root: int) -> float:
    """CPU seconds so far, user and system, of every thread."""
    spent = 0
    for pid in pids(root):
        for thread in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            words = _read(thread).split()
            spent += int(words[0]) if words else 0
    return spent / 1e9


def memory(root: int) -> float:
    """KiB, each shared page divided among those who share it (PSS)."""
    total = 0
    for pid in pids(root):
        for line in _read(Path(f"/proc/{pid}/smaps_rollup")).splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1])
    return total


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # it ended just now
        return ""
