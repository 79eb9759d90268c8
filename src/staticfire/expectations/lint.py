"""What is wrong with rows that can be read: told before a test runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from types import MappingProxyType

from staticfire.errors import WrongInput, did_you_mean
from staticfire.expectations.rows import Row

__all__ = ["ENGINES", "Known", "lint"]

PERSONALITIES = ("vllm", "sglang", "llamacpp", "lemonade", "transformers")
ENGINES = ("mock", *PERSONALITIES)


@dataclass(frozen=True, slots=True)
class Known:
    """The names that rows may use. None: not known here, so not checked."""

    ids: Collection[str] | None = None
    lanes: Collection[str] | None = None
    routers: Collection[str] | None = None
    engines: Collection[str] | None = ENGINES
    others: Mapping[str, Collection[str]] = field(
        default_factory=lambda: MappingProxyType(
            {
                "personality": PERSONALITIES,
                "clock": ("virtual", "real"),
                "os": ("linux", "darwin", "win32"),
                "gpu": ("none", "nvidia", "amd", "intel", "apple"),
            }
        )
    )

    def of(self, condition: str) -> Collection[str] | None:
        """The values that one condition may have."""
        named = {"lane": self.lanes, "router": self.routers, "engine": self.engines}
        return named[condition] if condition in named else self.others.get(condition)


def lint(rows: Iterable[Row], known: Known, today: date) -> list[WrongInput]:
    """Every unknown id, unknown value, expired row and shadowed row, in the order of the file."""
    problems: list[WrongInput] = []
    earlier: dict[str, list[Row]] = {}
    for row in rows:
        place = f'{row.where}: [["{row.scenario}"]]'
        if known.ids is not None and row.scenario not in known.ids:
            problems.append(
                WrongInput(
                    place,
                    expected="the @id of a scenario",
                    found=f'"{row.scenario}"',
                    do=did_you_mean(row.scenario, known.ids)
                    if known.ids
                    else "no scenario has an @id",
                )
            )
        problems.extend(_values(row, known, place))
        if row.until is not None and row.until < today:
            problems.append(
                WrongInput(
                    f"{place} until",
                    expected=f"a day that is not over ({today.isoformat()})",
                    found=row.until.isoformat(),
                    do=f"look at {row.bug}: remove the row, or give it a new day",
                )
            )
        for before in earlier.setdefault(row.scenario, []):
            if before.covers(row):
                problems.append(
                    WrongInput(
                        place,
                        expected="a row that can decide",
                        found=f"one shadowed by {before.where}, which matches whatever this matches",
                        do="put the narrower row first, or remove it",
                    )
                )
                break
        earlier[row.scenario].append(row)
    return problems


def _values(row: Row, known: Known, place: str) -> Iterable[WrongInput]:
    for key, value in row.when.items():
        names = known.of(key)
        if names is None or isinstance(value, bool):
            continue
        if value.lower() not in {name.lower() for name in names}:
            yield WrongInput(
                f"{place} when.{key}",
                expected=f"a known {key}",
                found=f'"{value}"',
                do=did_you_mean(value, names) if names else f"this run knows no {key}",
            )
