"""Fleet files: the groups of a fleet as TOML.

    seed = 7
    model = "qwen"

    [group.early]
    count = 2

    [group.late]
    count = 14
    binds = ["12s", "172s"]

A group takes every key of a script file, or a `script` file of its own beside the fleet's, whose
keys it may replace. What stands at the top holds for every group that does not say otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from staticfire.engine.durations import duration
from staticfire.engine.groups import Group, members
from staticfire.engine.places import Place
from staticfire.engine.script import Script
from staticfire.engine.toml import (
    SCRIPT_KEYS,
    known_keys,
    load_script,
    placed,
    read_tables,
    read_text,
    script_fields,
    typed,
)
from staticfire.errors import WrongInput

__all__ = ["FleetFile", "load_fleet", "parse_fleet"]

GROUP_KEYS = ("count", "binds", "spread", "port", "script", *SCRIPT_KEYS)


@dataclass(frozen=True, slots=True)
class FleetFile:
    """What a fleet file says; `seed` is None when it says none."""

    groups: tuple[Group, ...]
    seed: int | None = None


def load_fleet(path: str | Path) -> FleetFile:
    """The fleet in a file; raises `WrongInput` with file, line and key for one of no use."""
    return parse_fleet(read_text(path), str(path), folder=Path(path).parent)


def parse_fleet(
    text: str,
    name: str = "fleet",
    *,
    folder: Path = Path(),
    defaults: Mapping[str, Any] | None = None,
) -> FleetFile:
    """The fleet in a text that came from `name`; script files are looked for in `folder`.

    `defaults` are fields of a script that hold where the text says nothing.
    """
    data, top = read_tables(text, name)
    known_keys(data, ("seed", "group", *SCRIPT_KEYS), top)
    seed = typed(data["seed"], int, top.at("seed")) if "seed" in data else None
    common = dict(defaults or {}) | script_fields(
        {key: value for key, value in data.items() if key in SCRIPT_KEYS}, top
    )
    tables = typed(data.get("group", {}), dict, top.at("group"))
    if not tables:
        raise WrongInput(
            str(top.at("group")),
            expected="at least one group",
            found="none",
            do="add a table [group.NAME] with count = 2",
        )
    groups = tuple(
        _group(key, table, common, top.at("group").at(key), folder) for key, table in tables.items()
    )
    placed(top.at("group"), lambda: members(groups, 0))
    return FleetFile(groups, seed)


def _group(name: str, value: object, common: dict[str, Any], place: Place, folder: Path) -> Group:
    table = typed(value, dict, place)
    known_keys(table, GROUP_KEYS, place)
    fields: dict[str, Any] = {
        key: typed(table[key], kind, place.at(key))
        for key, kind in (("count", int), ("spread", str), ("port", int))
        if key in table
    }
    if "binds" in table:
        fields["binds"] = _binds(table["binds"], place.at("binds"))
    own = script_fields({key: value for key, value in table.items() if key in SCRIPT_KEYS}, place)
    if "script" in table:
        file = folder / typed(table["script"], str, place.at("script"))
        read = load_script(file)
        script = placed(place, lambda: replace(read, **own))
    else:
        script = placed(place, lambda: Script(**common | own))
    return placed(place, lambda: Group(name, script=script, **fields))


def _binds(value: object, place: Place) -> float | tuple[float, float]:
    if not isinstance(value, list):
        return duration(value, str(place))
    if len(value) != 2:
        raise WrongInput(
            str(place),
            expected='one time, or the first and the last: ["12s", "172s"]',
            found=repr(value),
        )
    first, last = (duration(item, str(place)) for item in value)
    return first, last
