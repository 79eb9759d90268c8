"""Script files: a script as TOML.

    model = "qwen"
    life = [{ phase = "refuses", for = "12s" }, { phase = "serving" }]

    [[rule]]
    on = "POST /v1/chat/completions"
    times = 3
    do = { fault = "answers", status = 503, retry_after = "1s" }

A fault is a table with its name under `fault`, the name alone, or a list of them, which play one
after the other. What is wrong in a file is said
with the file, the line, the key, what was expected and the nearest name.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from staticfire.engine.capacity import Capacity
from staticfire.engine.durations import duration
from staticfire.engine.faults import Combines, Fault, make
from staticfire.engine.faults.base import fault_class
from staticfire.engine.handlers import handler
from staticfire.engine.personalities import personality
from staticfire.engine.phases import PHASES, Phase
from staticfire.engine.places import Place
from staticfire.engine.script import ROUTES, Rule, Script
from staticfire.errors import WrongInput, did_you_mean

__all__ = [
    "SCRIPT_KEYS",
    "known_keys",
    "load_script",
    "parse_script",
    "placed",
    "read_tables",
    "read_text",
    "script_fields",
    "typed",
]

T = TypeVar("T")
SCRIPT_KEYS = (
    "model", "personality", "life", "rule", "capacity", "models", "embeddings", "tokens",
    "max_model_len", "dev_mode", "handlers", "flags", "build",
)  # fmt: skip
DURATIONS = {"seconds", "every", "back", "before_head", "before_first_token", "between_tokens"}


def load_script(path: str | Path) -> Script:
    """The script in a file; raises `WrongInput` for a file that cannot be used."""
    return parse_script(read_text(path), str(path))


def parse_script(text: str, name: str = "script") -> Script:
    """The script in a text that came from `name`."""
    data, top = read_tables(text, name)
    known_keys(data, SCRIPT_KEYS, top)
    fields = script_fields(data, top)
    return placed(top, lambda: Script(**fields))


def read_text(path: str | Path) -> str:
    """The text of a TOML file; raises `WrongInput` for one that cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        why = exc.strerror if isinstance(exc, OSError) else "bytes that are no UTF-8"
        raise WrongInput(
            str(path), expected="a readable TOML file", found=why, do="check the path"
        ) from exc


def read_tables(text: str, name: str) -> tuple[dict[str, Any], Place]:
    """What a TOML text says, with the place of its top; raises `WrongInput` with the line."""
    try:
        return tomllib.loads(text), Place(name, text)
    except tomllib.TOMLDecodeError as exc:
        found = re.search(r"\(at line (\d+)", str(exc))
        where = f"{name}:{found[1]}" if found else name
        why = str(exc).split(" (at ", maxsplit=1)[0]
        raise WrongInput(where, expected="TOML", found=why, do="see https://toml.io") from exc


def script_fields(data: Mapping[str, Any], top: Place) -> dict[str, Any]:
    """The fields of a script that a table gives, which stands at `top`."""
    fields: dict[str, Any] = {}
    for key, kind in (
        ("model", str), ("personality", str), ("embeddings", bool), ("tokens", int), ("build", str),
        ("max_model_len", int), ("dev_mode", bool),
    ):  # fmt: skip
        if key in data:
            fields[key] = typed(data[key], kind, top.at(key))
    for key in ("models", "handlers", "flags"):
        if key in data:
            items = typed(data[key], list, top.at(key))
            fields[key] = tuple(typed(item, str, top.at(key)) for item in items)
    personality(fields.get("personality", "vllm"), str(top.at("personality")))
    for item in fields.get("handlers", ()):
        placed(top.at("handlers"), functools.partial(handler, item))
    if "life" in data:
        place, life = top.at("life"), typed(data["life"], list, top.at("life"))
        fields["life"] = tuple(_phase(item, place.at(i)) for i, item in enumerate(life))
    if "rule" in data:
        place, rules = top.at("rule"), typed(data["rule"], list, top.at("rule"))
        fields["rules"] = tuple(_rule(item, place.at(i)) for i, item in enumerate(rules))
    if "capacity" in data:
        fields["capacity"] = _capacity(data["capacity"], top.at("capacity"))
    return fields


def _phase(item: object, place: Place) -> Phase:
    table = {"phase": item} if isinstance(item, str) else dict(typed(item, dict, place))
    if "phase" not in table:
        raise WrongInput(
            str(place), expected='the key "phase"', found="none", do=f"one of {', '.join(PHASES)}"
        )
    name = typed(table.pop("phase"), str, place.at("phase"))
    if name not in PHASES:
        raise WrongInput(
            str(place.at("phase")),
            expected="the name of a phase",
            found=f'"{name}"',
            do=did_you_mean(name, PHASES),
        )
    cls = PHASES[name]
    known = [field.name for field in dataclasses.fields(cls)]
    known_keys(table, [*("for" if key == "seconds" else key for key in known)], place)
    fields: dict[str, Any] = {}
    for key, value in table.items():
        here = place.at(key)
        if key == "for":
            fields["seconds"] = duration(value, str(here))
        elif key == "requests":
            fields[key] = typed(value, int, here)
        elif key == "hold":
            fields[key] = typed(value, str, here)
        elif key in ("reset", "refuses") or (key == "listed" and isinstance(value, bool)):
            fields[key] = typed(value, bool, here)
        elif key == "health" and isinstance(value, int):
            fields[key] = value
        else:
            fields[key] = _fault(value, here)
    return placed(place, lambda: cls(**fields))


def _rule(item: object, place: Place) -> Rule:
    table = typed(item, dict, place)
    known_keys(table, ("on", "do", "times", "for"), place)
    for key in ("on", "do"):
        if key not in table:
            raise WrongInput(
                str(place), expected=f'the key "{key}"', found="none", do=f"add {key} = …"
            )
    fields: dict[str, Any] = {
        "on": typed(table["on"], str, place.at("on")),
        "do": _fault(table["do"], place.at("do")),
    }
    if "times" in table:
        fields["times"] = typed(table["times"], int, place.at("times"))
    if "for" in table:
        fields["seconds"] = duration(table["for"], str(place.at("for")))
    on = str(fields["on"])
    if " " not in on and on not in ROUTES:
        raise WrongInput(
            str(place.at("on")),
            expected="METHOD /PATH or an endpoint's short name",
            found=f'"{on}"',
            do=did_you_mean(on, ROUTES),
        )
    return placed(place, lambda: Rule(**fields))


def _fault(value: object, place: Place) -> Fault:
    if isinstance(value, list) and value:
        return Combines(tuple(_fault(each, place.at(i)) for i, each in enumerate(value)))
    if isinstance(value, str):
        fault_class(value, str(place))
        return placed(place, lambda: make(value, str(place)))
    table = dict(typed(value, dict, place))
    if "fault" not in table:
        raise WrongInput(
            str(place), expected='the key "fault"', found="none", do='fault = "never answers"'
        )
    name = typed(table.pop("fault"), str, place.at("fault"))
    cls = fault_class(name, str(place.at("fault")))
    kinds = {field.name: str(field.type) for field in dataclasses.fields(cls)}
    known_keys(table, list(kinds), place)
    for key, given in table.items():
        table[key] = _field(key, given, kinds[key], place.at(key))
    return placed(place, lambda: make(name, str(place), **table))


def _field(key: str, value: object, kind: str, place: Place) -> object:
    """A fault's field from TOML, by the kind that its class declares."""
    if key in DURATIONS or (key == "retry_after" and _is_duration(value)):
        return duration(value, str(place))
    if key == "body" and isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return tuple((str(name), str(item)) for name, item in value.items())
    if isinstance(value, list):
        return tuple(tuple(item) if isinstance(item, list) else item for item in value)
    names = {"int": int, "float": (int, float), "bool": bool, "str": str}
    wanted = tuple(
        each
        for name, each_kind in names.items()
        if re.search(rf"\b{name}\b", kind)
        for each in (each_kind if isinstance(each_kind, tuple) else (each_kind,))
    )
    bad_bool = isinstance(value, bool) and bool not in wanted
    if wanted and (bad_bool or not isinstance(value, wanted)):
        raise WrongInput(str(place), expected=_nice(kind), found=repr(value))
    return value


def _nice(kind: str) -> str:
    names = {"int": "a whole number", "float": "a number", "bool": "true or false", "str": "text"}
    return " or ".join(text for name, text in names.items() if re.search(rf"\b{name}\b", kind))


def _is_duration(value: object) -> bool:
    try:
        duration(value)
    except WrongInput:
        return False
    return True


def _capacity(value: object, place: Place) -> Capacity:
    table = typed(value, dict, place)
    known_keys(table, [field.name for field in dataclasses.fields(Capacity)], place)
    fields: dict[str, Any] = {}
    for key, given in table.items():
        here = place.at(key)
        if key in ("first_token", "per_prompt_token", "per_token"):
            fields[key] = duration(given, str(here))
        else:
            fields[key] = typed(given, bool if key == "reuse" else int, here)
    return placed(place, lambda: Capacity(**fields))


def known_keys(table: Mapping[str, Any], known: list[str] | tuple[str, ...], place: Place) -> None:
    for key in table:
        if key not in known:
            raise WrongInput(
                str(place.at(key)),
                expected=f"one of the keys {', '.join(known)}",
                found=f'"{key}"',
                do=did_you_mean(key, known),
            )


def typed(value: Any, kind: type[Any], place: Place) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        names = {str: "text", int: "a whole number", bool: "true or false", list: "a list"}
        raise WrongInput(str(place), expected=names.get(kind, "a table"), found=repr(value))
    return value


def placed(place: Place, build: Callable[[], T]) -> T:
    """Build a value; an error that does not know its place yet gets it."""
    try:
        return build()
    except WrongInput as exc:
        if exc.where.startswith(place.file):
            raise
        key = exc.where.rpartition(": ")[2]
        where = place.at(key) if key and key in place.keys_below else place
        raise WrongInput(str(where), expected=exc.expected, found=exc.found, do=exc.do) from None
    except TypeError as exc:
        raise WrongInput(str(place), expected="usable values", found=str(exc)) from None
