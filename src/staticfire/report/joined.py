"""Joins the results of several runs: shards, routers, lanes and machines on one page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from staticfire.errors import WrongInput
from staticfire.report.results import RULES, Run, read

__all__ = ["Joined", "join", "mixed", "read_all"]


@dataclass(frozen=True, slots=True)
class Joined:
    """Several runs in one file, each as it came out."""

    runs: tuple[Run, ...]
    rules: int = RULES


class _Peek(msgspec.Struct):
    """What tells a file of several runs from a file of one."""

    runs: msgspec.Raw = msgspec.Raw(b"")
    rules: int = RULES


def read_all(path: Path) -> tuple[Run, ...]:
    """The runs of a result file, of one or of several; raises `WrongInput`."""
    try:
        raw = path.read_bytes()
        several = bytes(msgspec.json.decode(raw, type=_Peek).runs)
        if not several:
            return (read(path),)
        joined = msgspec.json.decode(raw, type=Joined)
    except (OSError, msgspec.MsgspecError) as error:
        raise WrongInput(str(path), expected="results of a run", found=str(error)) from None
    for run in joined.runs:
        if run.rules != RULES:
            raise WrongInput(str(path), expected=f"results of rules {RULES}", found=str(run.rules))
    return joined.runs


def join(paths: Sequence[Path]) -> tuple[Run, ...]:
    """The runs of several files, the same run once.

    Raises `WrongInput` for a run in which nothing ran: a broken shard must not look like a small
    one.
    """
    found: dict[bytes, Run] = {}
    for path in paths:
        for run in read_all(path):
            if run.ran == 0:
                raise WrongInput(
                    str(path),
                    expected="a run in which scenarios ran",
                    found=f"{run.selected} selected, 0 ran",
                    do="leave the file out, or see why that run did nothing",
                )
            found.setdefault(msgspec.json.encode(run), run)
    return tuple(found.values())


def mixed(runs: Iterable[Run]) -> list[str]:
    """What runs on one page do not share and a reader must know: the version of the suite."""
    suites = sorted({run.suite for run in runs})
    return [f"made by several versions of the suite: {', '.join(suites)}"] * (len(suites) > 1)
