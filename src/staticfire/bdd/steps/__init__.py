"""The step library, one file a subject; `staticfire steps` lists it."""

from __future__ import annotations

__all__ = ["MODULES"]

MODULES = tuple(
    f"staticfire.bdd.steps.{name}"
    for name in (
        "engines",
        "time",
        "router",
        "legs",
        "client",
        "answers",
        "wire",
        "heads",
        "telling",
        "passing",
        "sessions",
        "homes",
        "changing",
        "fleets",
        "clients",
        "readiness",
        "watching",
        "probing",
        "raw",
        "paths",
        "gate",
        "services",
        "serving",
        "records",
        "load",
        "rows",
    )
)
"""The step modules, which the plugin loads when a lane is named."""
