"""Lanes: where a run's engines come from.

A lane is a value with a factory for engines. `mock`, `llamacpp` and `llamacpp-bin` are built in; a project names
others, or the same with other options, in `[tool.staticfire.lanes.NAME]`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from staticfire.errors import WrongInput, did_you_mean
from staticfire.stand.lanes.base import Engine, Lane

__all__ = ["Engine", "Lane", "lanes"]

KINDS = {
    "mock": "staticfire.stand.lanes.mock:MockLane",
    "llamacpp": "staticfire.stand.lanes.llamacpp:LlamaCppLane",
    "llamacpp-bin": "staticfire.stand.lanes.llamacpp_bin:LlamaServerLane",
}


def lanes(tables: Mapping[str, Any]) -> dict[str, Callable[[], Lane]]:
    """Every lane by name: the built-in ones, then those of `[tool.staticfire.lanes]`.

    Raises `WrongInput` for a table that names no kind or an unknown one.
    """
    found: dict[str, Callable[[], Lane]] = {kind: _factory(kind, {}, kind) for kind in KINDS}
    for name, table in tables.items():
        where = f"[tool.staticfire.lanes.{name}]"
        options = dict(table) if isinstance(table, Mapping) else {}
        kind = options.pop("kind", None)
        if kind not in KINDS:
            raise WrongInput(
                where,
                expected=f"a key kind, one of {', '.join(KINDS)}",
                found=repr(kind),
                do=did_you_mean(str(kind), KINDS),
            )
        found[name] = _factory(kind, options, where)
    return found


def _factory(kind: str, options: dict[str, Any], where: str) -> Callable[[], Lane]:
    def make() -> Lane:
        module, _, name = KINDS[kind].partition(":")
        lane = getattr(importlib.import_module(module), name)
        try:
            made: Lane = lane(**options)
        except TypeError as error:
            raise WrongInput(
                where, expected=f"the options of a {kind} lane", found=str(error)
            ) from error
        return made

    return make
