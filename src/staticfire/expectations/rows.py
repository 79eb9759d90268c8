"""The rows of `expectations.toml`, read strictly.

    [["chat-tool-definitions-accepted"]]
    when = { engine = "vllm", os = "linux" }   # all of them; `{}` is always
    bug = "#123"
    reason = "tool definitions are dropped"
    raises = "tools"                           # text that the failure must hold
    kind = "product"                           # product, spec, suite, environment
    serve_timeout_secs = 240
    flaky = true                               # a pass is tolerated; needs `until`
    until = 2026-12-31                         # the last day; after it the row is an error
    version = "0.1.17"                         # of the router on which it was seen
    link = "https://…"                         # a public report

Several tables under one id are alternatives; the first that matches decides.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any, Final

from staticfire.errors import WrongInput, did_you_mean

__all__ = ["CONDITIONS", "KEYS", "KINDS", "Row", "Value", "matches", "parse"]

Value = str | bool

CONDITIONS: Final = ("router", "lane", "engine", "personality", "clock", "os", "gpu", "example")
KEYS: Final = (
    "when", "bug", "reason", "raises", "kind", "serve_timeout_secs", "flaky", "until", "version",
    "link",
)  # fmt: skip
KINDS: Final = ("product", "spec", "suite", "environment")


@dataclass(frozen=True, slots=True)
class Row:
    """One known bug: scenario, condition, ticket. `where` is the file with the row's line."""

    scenario: str
    when: Mapping[str, Value]
    bug: str
    reason: str
    raises: str | None = None
    kind: str = "product"
    serve_timeout_secs: float | None = None
    flaky: bool = False
    until: date | None = None
    version: str | None = None
    """The router's version on which it was seen; it holds for others until one is seen to differ."""
    link: str | None = None
    """A public report of it."""
    where: str = "expectations.toml"

    def covers(self, other: Row) -> bool:
        """True when every run that `other` matches is matched by this row too."""
        return all(
            key in other.when and _implies(key, other.when[key], value)
            for key, value in self.when.items()
        )

    def applies(self, conditions: Mapping[str, Value]) -> bool:
        """True when every condition of `when` holds; one that is not known does not."""
        return all(
            key in conditions and matches(key, value, conditions[key])
            for key, value in self.when.items()
        )


def matches(key: str, wanted: Value, found: Value) -> bool:
    """Whether a run's `found` is what a row wants. A GPU may be wanted by name or at all.

    A run without a GPU has `gpu` False or "none". An example may be a pattern, such as `503-*`.
    """
    if key == "example":
        return fnmatchcase(str(found), str(wanted))
    if key == "gpu":
        if isinstance(wanted, bool):
            return wanted is (found not in (False, "none", ""))
        if isinstance(found, bool):
            return not found and wanted.lower() == "none"
    return str(wanted).lower() == str(found).lower()


def _implies(key: str, narrow: Value, wide: Value) -> bool:
    """True when whatever matches `narrow` matches `wide`."""
    return matches(key, wide, narrow)


def parse(text: str, *, where: str = "expectations.toml") -> tuple[Row, ...]:
    """The rows of a file, in its order.

    Raises WrongInput with the file, the line and the key for TOML that is none, an unknown key, a
    value of the wrong kind, a missing `when`, `bug` or `reason`, a `flaky` without `until`.
    """
    try:
        page = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise WrongInput(where, expected="TOML", found=str(error)) from None
    heads = _heads(text)
    rows: list[tuple[int, Row]] = []
    for scenario, tables in page.items():
        lines = [line for name, line in heads if name == scenario]
        if not isinstance(tables, list) or not all(isinstance(t, dict) for t in tables):
            raise WrongInput(
                f"{where}:{lines[0]}" if lines else where,
                expected=f'a table [["{scenario}"]]',
                found=f"a {_kind_of(tables)}",
                do="double brackets: several rows may stand under one id",
            )
        if len(lines) != len(tables):  # a head inside a text, say: the line cannot be told
            lines = [1] * len(tables)
        for line, table in zip(lines, tables, strict=True):
            rows.append((line, _row(scenario, table, f"{where}:{line}")))
    rows.sort(key=lambda pair: pair[0])
    return tuple(row for _, row in rows)


_HEADER = re.compile(
    r"""^[ \t]*\[{1,2}[ \t]*(?:"([^"\n]*)"|'([^'\n]*)'|([\w-]+))[ \t]*\]{1,2}""", re.MULTILINE
)


def _heads(text: str) -> list[tuple[str, int]]:
    """The id and the line of each table's head; TOML's own parser does not tell lines."""
    return [
        (next(g for g in m.groups() if g is not None), text.count("\n", 0, m.start()) + 1)
        for m in _HEADER.finditer(text)
    ]


def _row(scenario: str, table: Mapping[str, Any], where: str) -> Row:
    place = f'{where}: [["{scenario}"]]'
    for key in table:
        if key not in KEYS:
            raise WrongInput(
                place, expected="a known key", found=f'"{key}"', do=did_you_mean(key, KEYS)
            )
    if "when" not in table:
        raise WrongInput(
            place, expected='a "when"', found="none", do="write when = {} for a bug that is always"
        )
    until = _until(table.get("until"), f"{place} until")
    flaky = _typed(table.get("flaky", False), bool, f"{place} flaky", "true or false")
    if flaky and until is None:
        raise WrongInput(
            place,
            expected='an "until" beside flaky',
            found="none",
            do="a flaky row needs its last day, like until = 2027-01-31",
        )
    kind = _text(table.get("kind", "product"), f"{place} kind")
    if kind not in KINDS:
        raise WrongInput(
            f"{place} kind",
            expected=f"one of {', '.join(KINDS)}",
            found=f'"{kind}"',
            do=did_you_mean(kind, KINDS),
        )
    texts = {
        key: None if table.get(key) is None else _text(table[key], f"{place} {key}")
        for key in ("raises", "version", "link")
    }
    return Row(
        scenario=scenario,
        when=_when(table["when"], f"{place} when"),
        bug=_text(table.get("bug"), f"{place} bug", "a ticket"),
        reason=_text(table.get("reason"), f"{place} reason", "a sentence"),
        **texts,
        kind=kind,
        serve_timeout_secs=_seconds(table.get("serve_timeout_secs"), f"{place} serve_timeout_secs"),
        flaky=flaky,
        until=until,
        where=where,
    )


def _when(value: Any, place: str) -> Mapping[str, Value]:
    if not isinstance(value, dict):
        raise WrongInput(place, expected='a table like { engine = "vllm" }', found=_kind_of(value))
    for key, wanted in value.items():
        if key not in CONDITIONS:
            raise WrongInput(
                place, expected="a known condition", found=f'"{key}"',
                do=did_you_mean(key, CONDITIONS),
            )  # fmt: skip
        if key == "gpu" and isinstance(wanted, bool):
            continue
        if not isinstance(wanted, str) or not wanted:
            raise WrongInput(
                f"{place}.{key}",
                expected="one name" + (" or true or false" if key == "gpu" else ""),
                found=_kind_of(wanted),
                do="several tables under one id are alternatives",
            )
    return MappingProxyType(dict(value))


def _until(value: Any, place: str) -> date | None:
    if value is None:
        return None
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    raise WrongInput(place, expected="a day like 2027-01-31, without quotes", found=repr(value))


def _seconds(value: Any, place: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e6:
        raise WrongInput(place, expected="seconds above zero", found=repr(value))
    return float(value)


def _text(value: Any, place: str, what: str = "a text") -> str:
    if value is None:
        raise WrongInput(place, expected=what, found="none")
    if not isinstance(value, str) or not value.strip():
        found = "an empty text" if isinstance(value, str) else _kind_of(value)
        raise WrongInput(place, expected=what, found=found)
    return value


def _typed(value: Any, kind: type[bool], place: str, what: str) -> bool:
    if not isinstance(value, kind):
        raise WrongInput(place, expected=what, found=repr(value))
    return value


def _kind_of(value: Any) -> str:
    names = {dict: "table", list: "list", str: "text", bool: "boolean", int: "number"}
    return names.get(type(value), type(value).__name__)
