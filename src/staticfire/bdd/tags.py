"""The tags that a scenario may carry: closed lists, read in one place.

`docs/reference/tags.md` explains each; a test holds the two together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from staticfire.errors import did_you_mean, nearest
from staticfire.stand.lanes.base import CAPABILITIES as OF_ENGINES
from staticfire.stand.routers.entry import CAPABILITIES as OF_ROUTERS

__all__ = [
    "GPUS",
    "LEVELS",
    "NEEDS",
    "OF_ENGINES",
    "OF_ROUTERS",
    "OSES",
    "SOURCES",
    "Tags",
    "read_tags",
    "tags_of",
]

NEEDS = {**OF_ENGINES, **OF_ROUTERS}

LEVELS = {
    "must": "breaks a client or loses a worker",
    "should": "costs time, money or trust",
    "observe": "is reported and never fails a conformance run",
}

PLAIN = {
    "realtime": "runs on the real clock, with budgets of a few seconds",
    "counts": "counts attempts: a router that is a program runs without retries",
    "bundled": "speaks of the bundled router's own inside",
}

OSES = ("linux", "darwin", "win32")
GPUS = ("none", "amd", "nvidia")

SOURCES = {
    "case": re.compile(r"B\d{3}"),
    "readiness": re.compile(r"\d{1,2}"),
    "rfc": re.compile(r"\d{4}-\d+(\.\d+)*"),
}

ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Tags:
    """What a scenario's tags say."""

    id: str | None = None
    level: str | None = None
    needs: frozenset[str] = frozenset()
    oses: frozenset[str] = frozenset()
    gpus: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()
    realtime: bool = False
    bundled: bool = False
    counts: bool = False
    routed: bool = False
    """Not a tag: whether a router takes part, as its steps say."""
    other: frozenset[str] = frozenset()
    """Tags without a colon that the project registered as pytest markers."""


def read_tags(tags: Iterable[str], registered: Iterable[str] = ()) -> tuple[Tags, list[str]]:
    """Read the tags of one scenario, its feature and its rule.

    `registered` are the project's own markers. Returns the tags and what is wrong with them.
    """
    values: dict[str, set[str]] = {}
    plain: set[str] = set()
    wrong: list[str] = []
    own = set(registered)
    closed = {"needs": NEEDS, "os": OSES, "gpu": GPUS}
    for tag in sorted(tags):
        key, colon, value = tag.partition(":")
        if not colon and (tag in LEVELS or tag in PLAIN or tag in own):
            plain.add(tag)
        elif key in closed and colon and value not in closed[key]:
            wrong.append(f"unknown tag @{tag}; {did_you_mean(value, closed[key])}")
        elif key in SOURCES and colon and not SOURCES[key].fullmatch(value):
            wrong.append(f"tag @{tag} must match {SOURCES[key].pattern}")
        elif key == "id" and colon and not ID.fullmatch(value):
            wrong.append(f"tag @{tag} must be lower-case words joined by hyphens")
        elif colon and key in {*closed, *SOURCES, "id"}:
            values.setdefault(key, set()).add(value)
        else:
            known = {*LEVELS, *PLAIN, *own, *(f"{k}:…" for k in (*closed, *SOURCES, "id"))}
            wrong.append(f"unknown tag @{tag}; {_advice(tag, known)}")
    ids, levels = sorted(values.get("id", ())), sorted(plain & set(LEVELS))
    if len(ids) > 1:
        wrong.append(f"more than one @id: {', '.join(ids)}")
    if len(levels) > 1:
        wrong.append(f"more than one level: {', '.join(levels)}")
    read = Tags(
        id=ids[0] if ids else None,
        level=levels[0] if levels else None,
        needs=frozenset(values.get("needs", ())),
        oses=frozenset(values.get("os", ())),
        gpus=frozenset(values.get("gpu", ())),
        sources=frozenset(f"{key}:{v}" for key in SOURCES for v in values.get(key, ())),
        realtime="realtime" in plain,
        bundled="bundled" in plain,
        counts="counts" in plain,
        other=frozenset(plain & own),
    )
    return read, wrong


def _advice(tag: str, known: set[str]) -> str:
    """The nearest tag, or how to have one of one's own."""
    near = nearest(tag, sorted(known))
    own = "register your own under markers in pyproject.toml"
    return f'did you mean "{near}"?' if near else f"docs/reference/tags.md lists ours; {own}"


def tags_of(item: object) -> Tags | None:
    """The tags of a scenario's pytest item; None for any other test."""
    found: Tags | None = getattr(getattr(item, "obj", None), "staticfire_tags", None)
    return found
