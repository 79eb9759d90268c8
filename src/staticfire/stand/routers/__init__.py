"""Routers under test: the one that a scenario drives, by name.

`bundled` is ours. A project names its own in `[tool.staticfire.routers.NAME]` with
`python = "module:Class"`: a class that lives in the test process, on the scenario's loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from staticfire.errors import WrongInput
from staticfire.stand.routers.base import RouterFactory, RouterUnderTest

__all__ = ["RouterFactory", "RouterUnderTest", "routers"]

BUNDLED = "staticfire.stand.routers.bundled:BundledRouter"


def routers(tables: Mapping[str, Any]) -> dict[str, RouterFactory]:
    """Every router under test by name: `bundled`, then those of `[tool.staticfire.routers]`.

    Raises `WrongInput` for a table without `python`, or whose class cannot be found.
    """
    found = {"bundled": RouterFactory("bundled", BUNDLED)}
    for name, table in tables.items():
        where = f"[tool.staticfire.routers.{name}]"
        target = table.get("python") if isinstance(table, Mapping) else None
        if not isinstance(target, str) or ":" not in target:
            raise WrongInput(where, expected='python = "module:Class"', found=repr(target))
        found[name] = RouterFactory(name, target)
    return found
