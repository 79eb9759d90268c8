"""What a scenario is expected to do here: pass, xfail or skip."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal

from staticfire.errors import WrongInput
from staticfire.expectations.lint import ENGINES, Known, lint
from staticfire.expectations.rows import Row, Value, matches, parse

__all__ = ["Expectation", "Expectations", "Outcome", "load", "read"]

Outcome = Literal["pass", "xfail", "skip"]


@dataclass(frozen=True, slots=True)
class Expectation:
    """What one scenario is expected to do under the conditions of this run."""

    scenario: str
    outcome: Outcome
    why: str = ""
    """Of a skip: what does not apply here. Of an xfail: ticket and reason."""
    row: Row | None = None
    """The row that decided, of an xfail."""

    @property
    def serve_timeout(self) -> float | None:
        """The row's own cap on waiting until served, in seconds."""
        return None if self.row is None else self.row.serve_timeout_secs

    @property
    def strict(self) -> bool:
        """Whether a pass is a failure: of every known bug that is not flaky."""
        return self.row is not None and not self.row.flaky


@dataclass(frozen=True, slots=True)
class Expectations:
    """The rows of one file."""

    rows: tuple[Row, ...] = ()

    def resolve(
        self,
        scenario: str,
        conditions: Mapping[str, Value],
        *,
        tags: Iterable[str] = (),
        has: Collection[str] | None = None,
    ) -> Expectation:
        """Pass, xfail or skip.

        `conditions` are router, lane, engine, personality, clock, os, gpu as far as they are
        known. A tag that does not apply here is a skip: `needs:X` when `has` (the lane's
        capabilities; None: all) lacks X; `os:X`, `gpu:X` and `router:X` when the run is on another. Then the
        first row whose `when` holds is an xfail. Else the scenario has to pass.
        """
        why = _not_here(tags, conditions, has)
        if why is not None:
            return Expectation(scenario, "skip", why)
        for row in self.rows:
            if row.scenario == scenario and row.applies(conditions):
                return Expectation(scenario, "xfail", f"{row.bug}: {row.reason}", row)
        return Expectation(scenario, "pass")

    def of_tickets(self, tickets: Iterable[str]) -> tuple[Row, ...]:
        """The rows that a fix of these tickets should remove, in the order of the file."""
        wanted = {ticket.lower() for ticket in tickets}
        return tuple(row for row in self.rows if wanted & _tickets(row.bug))


def _tickets(bug: str) -> set[str]:
    """A bug as tickets: the whole text, and each of several that it names."""
    return {bug.strip().lower(), *bug.lower().replace(",", " ").replace(";", " ").split()}


def _not_here(
    tags: Iterable[str], conditions: Mapping[str, Value], has: Collection[str] | None
) -> str | None:
    for tag in tags:
        name, colon, value = tag.removeprefix("@").partition(":")
        if not colon:
            continue
        if name == "needs" and has is not None and value not in has:
            lane = conditions.get("lane")
            return (
                f"needs {value}, which " + (f"the lane {lane}" if lane else "this lane") + " lacks"
            )
        if name in ("os", "gpu", "router"):
            found = conditions.get(name, "unknown")
            if not matches(name, _flag(value) if name == "gpu" else value, found):
                return f"for {name} {value} only; this is {found}"
    return None


def _flag(value: str) -> Value:
    return {"true": True, "any": True, "false": False}.get(value.lower(), value)


def read(path: str | Path) -> Expectations:
    """The expectations of a file as they stand; raises WrongInput for rows that cannot be read."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = str(error.strerror).lower() if isinstance(error, OSError) else "not UTF-8"
        raise WrongInput(str(path), expected="a readable file", found=why) from None
    return Expectations(parse(text, where=str(path)))


def load(
    path: str | Path,
    *,
    known_ids: Collection[str] | None = None,
    lanes: Collection[str] | None = None,
    routers: Collection[str] | None = None,
    engines: Collection[str] | None = ENGINES,
    today: date,
) -> Expectations:
    """The expectations of a file, checked against the names of this run.

    Raises WrongInput for the first thing that is wrong, in the order of the file: what `read`
    raises, unknown ids, lanes, routers, engines and other values, expired rows, shadowed rows. A
    list of names that is None is not checked.
    """
    expectations = read(path)
    for problem in lint(expectations.rows, Known(known_ids, lanes, routers, engines), today):
        raise problem
    return expectations
