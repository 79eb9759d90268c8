"""Routers under test: the one that a scenario drives, by name.

`bundled` is ours; `direct` is none at all, for a baseline; some others are known from the start
(`builtin.toml`). A project names its own in `[tool.staticfire.routers.NAME]`: with `python = "module:Class"` a class that lives in the test
process, on the scenario's loop; with `command = "…"` a program. A table named as a known router
changes what it says of it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from staticfire.errors import WrongInput
from staticfire.stand.routers import direct
from staticfire.stand.routers.base import ClassFactory, RouterFactory, RouterUnderTest
from staticfire.stand.routers.entry import CAPABILITIES, Entry, read_entry
from staticfire.stand.routers.flags import Unsupported
from staticfire.stand.routers.flaws import FLAWS
from staticfire.stand.routers.process import ProcessFactory

__all__ = [
    "CAPABILITIES",
    "WITHOUT_FLAWS",
    "RouterFactory",
    "RouterUnderTest",
    "Unsupported",
    "builtin",
    "routers",
]

BUNDLED = "staticfire.stand.routers.bundled:BundledRouter"
DIRECT = "staticfire.stand.routers.direct:Direct"
NAIVE = "staticfire.stand.routers.naive:NaiveRouter"
WITHOUT_FLAWS = "naive-without-flaws"
"""The naive router as it would be; `naive-FLAW` has that one flaw only, `naive` has all."""


@cache
def builtin() -> Mapping[str, Entry]:
    """The entries of routers that are known from the start, by name."""
    page = tomllib.loads((files(__package__) / "builtin.toml").read_text(encoding="utf-8"))
    return {name: read_entry(name, table, f"[{name}]") for name, table in page.items()}


def routers(tables: Mapping[str, Any], folders: Sequence[str] = ()) -> dict[str, RouterFactory]:
    """Every router under test by name: `bundled`, the known ones, then those of the tables.

    `folders` are where programs are looked for besides PATH. Raises `WrongInput` for a table with
    neither `python` nor `command`, or with keys that are wrong.
    """
    found: dict[str, RouterFactory] = {"bundled": ClassFactory("bundled", BUNDLED)}
    known, places = builtin(), tuple(folders)
    found |= {name: ProcessFactory(entry, places) for name, entry in known.items()}
    found[direct.NAME] = ClassFactory(direct.NAME, DIRECT, capabilities=direct.HAS)
    found["naive"] = ClassFactory("naive", NAIVE)
    mutants = {WITHOUT_FLAWS: (), **{f"naive-{flaw}": (flaw,) for flaw in FLAWS}}
    found |= {name: ClassFactory(name, NAIVE, flaws) for name, flaws in mutants.items()}
    for name, table in tables.items():
        where = f"[tool.staticfire.routers.{name}]"
        values = dict(table) if isinstance(table, Mapping) else {}
        if "python" in values:
            target = values["python"]
            if not isinstance(target, str) or ":" not in target:
                raise WrongInput(where, expected='python = "module:Class"', found=repr(target))
            found[name] = ClassFactory(name, target)
        elif values:
            entry = read_entry(name, values, where, known.get(name))
            found[name] = ProcessFactory(entry, places)
        else:
            expected = 'python = "module:Class" or command = "…"'
            raise WrongInput(where, expected=expected, found=repr(table))
    return found
