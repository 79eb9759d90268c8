"""What a run adds to the tests of scenarios: skips, known bugs, and what a failure shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from staticfire.bdd.chosen import example_of
from staticfire.bdd.keys import PACKAGED
from staticfire.bdd.session import Session
from staticfire.bdd.tags import Tags
from staticfire.bdd.world import World
from staticfire.errors import BrokenPromise, StaticFireError
from staticfire.expectations import settle
from staticfire.readiness.keys import redacted, secrets_of

__all__ = ["explained", "mark", "replay", "sections", "without_key"]


def mark(item: pytest.Item, tags: Tags, session: Session, router: str) -> None:
    """Skip what does not apply, expect what is a known bug."""
    item.user_properties += [("scenario", tags.id or ""), ("seed", str(session.asked.seed))]
    item.user_properties.append(("router", router))
    expected = session.expectation(tags, router, example_of(item))
    if session.missing or expected.outcome == "skip":
        item.add_marker(pytest.mark.skip(reason=session.missing or expected.why))
    elif expected.outcome == "xfail":
        bug = pytest.RaisesExc(
            AssertionError, check=lambda failure: settle(expected, failure).result == "xfailed"
        )
        item.add_marker(pytest.mark.xfail(reason=expected.why, raises=bug, strict=expected.strict))


def explained(step: str | None, failure: BaseException) -> str | None:
    """A broken promise or wrong input in the words of its step; None for any other failure.

    The traceback of a promise ends in the harness and helps nobody; `-vv` shows it.
    """
    if step is None or not isinstance(failure, BrokenPromise | StaticFireError):
        return None
    return f"{step}\n\n{type(failure).__name__}: {failure}"


def sections(
    item: pytest.Item, steps: list[str], world: World | None, session: Session
) -> list[tuple[str, str]]:
    """What a failing test shows besides its message."""
    whole = item.config.get_verbosity() > 1
    shown = []
    if steps:
        shown.append(("Scenario so far", "\n".join(steps)))
    if world is not None:
        shown += [
            (f"Engine {name}", "\n".join(_last(lines, whole)) or "nothing happened")
            for name, lines in world.timelines().items()
        ]
        log = world.router_log()
        if log:
            shown.append(("Router's log", "\n".join(_last(log, whole))))
    shown.append(("Replay", replay(item, session)))
    return shown


def without_key(value: Any, session: Session) -> Any:
    """A text, or all texts in lists and tables, without the key of the lane's engines.

    An engine may echo the key that it refuses.
    """
    secrets = secrets_of(session.lane.key.headers)
    return _without(value, secrets) if secrets else value


def _without(value: Any, secrets: Sequence[str]) -> Any:
    if isinstance(value, str):
        return redacted(value, secrets)
    if isinstance(value, Mapping):
        return {name: _without(one, secrets) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_without(one, secrets) for one in value)
    return value


SHOWN = 40
"""Lines of a timeline that a failure shows; `-vv` shows them all."""


def _last(lines: list[str], whole: bool) -> list[str]:
    left_out = 0 if whole else max(0, len(lines) - SHOWN)
    return [f"… {left_out} earlier lines, shown by -vv", *lines[left_out:]] if left_out else lines


def replay(item: pytest.Item, session: Session) -> str:
    """The command that runs this test again, as it ran."""
    asked = session.asked
    routers = (
        "" if asked.routers == ("bundled",) else "".join(f" --router {r}" for r in asked.routers)
    )
    lane = "--mock-engines" if asked.lane == "mock" else f"--engine-lane {asked.lane}"
    lane += "".join(f" {words}" for words in asked.given_words())
    routers += "".join(f" --router-bin {folder}" for folder in asked.router_bin)
    clock = "" if asked.clock == "virtual" else f" --engine-clock {asked.clock}"
    pyargs = "--pyargs " if item.nodeid.startswith(f"{PACKAGED}/") else ""
    return f"pytest {lane}{routers}{clock} --engine-seed {asked.seed} {pyargs}'{item.nodeid}'"
