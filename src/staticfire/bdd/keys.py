"""What the plugin keeps in pytest's stashes."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from staticfire.bdd.marks import Mark
    from staticfire.bdd.session import Session
    from staticfire.bdd.world import World

__all__ = [
    "BINDING",
    "FAILED_AT",
    "MARKS",
    "NO_LANE",
    "PACKAGED",
    "SESSION",
    "SO_FAR",
    "TOLD",
    "WORLD",
]

BINDING: ContextVar[bool] = ContextVar("staticfire is binding a scenario", default=False)
"""Whether the scenario that pytest-bdd is marking is one that we collected."""

PACKAGED = "staticfire.features"
"""How `--pyargs` names our features."""

NO_LANE = "needs engines: run with --mock-engines, or --engine-lane NAME"

SESSION: pytest.StashKey[Session] = pytest.StashKey()
"""The lane of the run; absent without one."""
TOLD: pytest.StashKey[list[str]] = pytest.StashKey()
"""What the run tells at its end."""
WORLD: pytest.StashKey[World] = pytest.StashKey()
"""The world of a test."""
SO_FAR: pytest.StashKey[list[str]] = pytest.StashKey()
"""The steps of a scenario that ran, each with its time."""
FAILED_AT: pytest.StashKey[str] = pytest.StashKey()
"""Place and text of the step that failed."""
MARKS: pytest.StashKey[list[Mark]] = pytest.StashKey()
"""What had happened as each of them began; only where a report is asked for."""
