"""Whether the process of a worker still runs."""

from __future__ import annotations

from staticfire.services.processes import read

__all__ = ["LocalProcess"]


class LocalProcess:
    """The process of a worker, told by its pid with its start time: a pid alone is given out again."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._start = _start_of(pid)
        self.never = self._start is None

    @property
    def dead(self) -> bool:
        """Whether it has ended; a zombie has."""
        return self._start is None or _start_of(self.pid) != self._start


def _start_of(pid: int) -> int | None:
    """When the process of that pid started; None for a zombie and for none."""
    found = read(pid)
    return found.start if found is not None and found.alive else None
