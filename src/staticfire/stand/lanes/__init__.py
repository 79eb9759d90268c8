"""Lanes: where a run's engines come from.

A lane is a value with a factory for engines. The kinds are built in, each as a lane of its own name; a
project names others, or the same with other options, in `[tool.staticfire.lanes.NAME]`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from staticfire.errors import WrongInput, did_you_mean
from staticfire.stand.lanes.base import Engine, Lane, LaneFailed, NoneLeft

__all__ = ["KINDS", "Engine", "Lane", "LaneFailed", "NoneLeft", "lanes"]

KINDS = {
    "mock": "staticfire.stand.lanes.mock:MockLane",
    "llamacpp": "staticfire.stand.lanes.llamacpp:LlamaCppLane",
    "llamacpp-bin": "staticfire.stand.lanes.llamacpp_bin:LlamaServerLane",
    "transformers": "staticfire.stand.lanes.transformers:TransformersLane",
    "vllm": "staticfire.stand.lanes.vllm:VllmLane",
    "command": "staticfire.stand.lanes.command:CommandLane",
    "url": "staticfire.stand.lanes.url:UrlLane",
}
"""Where each kind is made; nothing of it is imported before it is asked for."""


Options = Mapping[str, Any]


def lanes(tables: Mapping[str, Any], given: Options | None = None) -> dict[str, Callable[[], Lane]]:
    """Every lane by name: the built-in ones, then those of `[tool.staticfire.lanes]`.

    `given` is what the command line says of a url lane, before its table. Raises `WrongInput` for a
    table that names no kind or an unknown one.
    """
    found = {kind: _factory(kind, kind, {}, given) for kind in KINDS}
    for name, table in tables.items():
        where = f"[tool.staticfire.lanes.{name}]"
        options = dict(table) if isinstance(table, Mapping) else {}
        kind = options.pop("kind", name if name in KINDS and isinstance(table, Mapping) else None)
        if kind not in KINDS:
            raise WrongInput(
                where,
                expected=f"a key kind, one of {', '.join(KINDS)}",
                found=repr(kind),
                do=did_you_mean(str(kind), KINDS),
            )
        found[name] = _factory(kind, where, options, given)
    return found


def _factory(kind: str, where: str, options: Options, given: Options | None) -> Callable[[], Lane]:
    def make() -> Lane:
        if given and kind != "url":
            raise WrongInput(
                "--engine-url, --engine-key-env, --engine-key-file, --engine-model",
                expected="a lane of engines that already run",
                found=f"one of kind {kind}",
                do="leave --engine-lane out, or name a lane of kind url",
            )
        module, _, name = KINDS[kind].partition(":")
        lane = getattr(importlib.import_module(module), name)
        try:
            made: Lane = lane(**{**options, **(given or {})})
        except TypeError as error:
            raise WrongInput(
                where, expected=f"the options of a {kind} lane", found=str(error)
            ) from error
        except WrongInput as wrong:
            if where == kind or wrong.where.startswith("--"):
                raise
            raise WrongInput(
                f"{where} {wrong.where}", expected=wrong.expected, found=wrong.found, do=wrong.do
            ) from wrong
        return made

    return make
