"""Which scenarios a run is about: a profile that a router claims, a share of what was selected."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from staticfire.errors import WrongInput

if TYPE_CHECKING:
    from staticfire.bdd.tags import Tags

__all__ = ["PROFILES", "parse_shard", "shard"]

T = TypeVar("T")

SPECIAL = frozenset(
    {
        "breaker", "sessions", "least-sessions", "models", "health",
        "bodies", "openai-errors", "gateway-errors", "retries", "verbatim", "body-sessions",
        "kept-connections", "telling", "pairs", "metrics-page",
    }
)  # fmt: skip
"""What a router may do without and still carry requests."""


def _core(tags: Tags, feature: str) -> bool:
    del feature
    return not tags.needs & SPECIAL


def _sessions(tags: Tags, feature: str) -> bool:
    del feature
    return bool(tags.needs & {"sessions", "least-sessions"})


def _late(tags: Tags, feature: str) -> bool:
    return feature == "late_workers" or "health" in tags.needs


PROFILES: Mapping[str, Callable[[Tags, str], bool]] = MappingProxyType(
    {
        "core": _core,
        "backpressure": lambda _, feature: feature == "backpressure",
        "late-workers": _late,
        "sessions": _sessions,
        "metrics": lambda tags, _: "metrics-page" in tags.needs,
        "prefill-decode": lambda tags, _: "pairs" in tags.needs,
    }
)
"""Scenarios in which a router takes part, by the name of what it claims; none asks for our inside."""


def parse_shard(text: str | None) -> tuple[int, int]:
    """`2/3` as (2, 3); everything without it. Raises `WrongInput`."""
    if not text:
        return 1, 1
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise WrongInput("--engine-shard", expected="I/N with I from 1 to N", found=repr(text))
    return int(match[1]), int(match[2])


def shard(items: Sequence[T], key: Callable[[T], str], part: tuple[int, int]) -> set[int]:
    """The places of the items of one part; all parts together are all items, none twice.

    By name, so that every machine cuts alike whatever its order.
    """
    number, of = part
    places = sorted(range(len(items)), key=lambda place: key(items[place]))
    return set(places[number - 1 :: of])
