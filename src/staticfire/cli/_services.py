"""What the commands about services share: the store with its warnings, tables, reports."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from staticfire.clock import current
from staticfire.services import logs
from staticfire.services.home import Home, state_folder
from staticfire.services.host import Machine
from staticfire.services.store import Store
from staticfire.services.view import ANSWERS, SILENT, View, view
from staticfire.services.wait import End, Waited

__all__ = ["Room", "nice", "opened", "report", "rows", "supervisor", "tailed"]

TAIL = 15
"""Lines of a dead engine's log that are shown."""

SUPERVISOR = "supervisor"
"""The lock of the one supervisor of a state folder."""


class Room:
    """The store and the machine of one command."""

    def __init__(self) -> None:
        self.home = Home(state_folder())
        self.store = Store(self.home)
        self.machine = Machine()
        self._told = 0

    def warn(self) -> None:
        """Tell what the store has to say, each thing once, on standard error."""
        for note in self.store.notes[self._told :]:
            click.echo(f"staticfire: {note}", err=True)
        self._told = len(self.store.notes)

    @property
    def supervisor(self) -> int | None:
        """The pid of the supervisor at work."""
        return supervisor(self.home)

    def view(self, waited: Waited) -> View:
        """The service that a wait was for, as it is now."""
        return view(waited.checked, current().boot(), supervisor=self.supervisor)


@contextmanager
def opened() -> Iterator[Room]:
    """The room of one command; its warnings come before anything else."""
    room = Room()
    room.warn()
    try:
        yield room
    finally:
        room.warn()
        room.store.close()


def supervisor(home: Home) -> int | None:
    """The pid of the supervisor at work in a state folder."""
    return home.holder(SUPERVISOR)


def tailed(shown: View, lines: int = TAIL) -> list[str]:
    """The last lines of a service's log."""
    return logs.tail(Path(shown.log), lines) if shown.log else []


def report(shown: View, waited: Waited, note: str = "") -> None:
    """What `serve`, `restart` and `wait` say at their end."""
    took = waited.after / 1e9
    head = f"{shown.name}: {shown.status}"
    if waited.end is End.READY:
        head += f" after {took:.1f} s"
    elif waited.end is End.COMING:
        far = {ANSWERS: f"it {ANSWERS}", SILENT: "it did not answer in the start-up window"}
        known = far.get(shown.coming, "it is not ready")
        head += f": not ready yet after {took:.1f} s: {known} ({shown.finding or shown.reason})"
    else:
        head += f": {shown.reason}"
    click.echo(head + (f" ({note})" if note else ""))
    for what, value in rows(shown):
        click.echo(f"  {what:12} {value}")
    if waited.end is End.DEAD:
        lines = tailed(shown)
        click.echo("  its last words:" if lines else "  it wrote nothing to its log")
        for line in lines:
            click.echo(f"    {line}")


def rows(shown: View) -> list[tuple[str, str]]:
    """The facts of a service, for people."""
    answered = None if shown.answered_in is None else f"in {shown.answered_in:.3g} s"
    process = "none" if not shown.alive else f"pid {shown.pid}"
    return [
        ("url", shown.url),
        ("model", nice(shown.model)),
        ("process", process + (f", restarts {shown.restarts}" if shown.restarts else "")),
        ("smoke test", nice(shown.smoke_test, "n/a: none ran")),
        ("answered", nice(answered)),
        ("next check", shown.next_check),
        ("log", shown.log),
    ]


def nice(value: object, missing: str = "n/a") -> str:
    """A value for people."""
    return missing if value is None else str(value)


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> list[str]:
    """Columns that fit also names with wide letters."""
    widths = [max(width(row[i]) for row in (head, *lines)) for i in range(len(head))]
    return [
        "  ".join(
            cell + " " * (w - width(cell)) for cell, w in zip(row, widths, strict=True)
        ).rstrip()
        for row in (head, *lines)
    ]


def width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )
