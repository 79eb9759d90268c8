"""Nothing but the clock asks what time it is."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src" / "staticfire"
FORBIDDEN = {
    "time.time", "time.time_ns", "time.monotonic", "time.monotonic_ns", "time.perf_counter",
    "time.perf_counter_ns", "datetime.now", "datetime.utcnow", "datetime.today", "date.today",
}  # fmt: skip
FILES = sorted(path for path in SRC.rglob("*.py") if SRC / "clock" not in path.parents)


def asked(source: str) -> list[str]:
    """The forbidden questions in a source text, with their lines."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute):
            dotted = ast.unparse(node)
            if any(dotted == name or dotted.endswith(f".{name}") for name in FORBIDDEN):
                found.append(f"line {node.lineno}: {dotted}")
        elif isinstance(node, ast.ImportFrom) and node.module == "time":
            found += [
                f"line {node.lineno}: from time import {alias.name}"
                for alias in node.names
                if f"time.{alias.name}" in FORBIDDEN
            ]
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SRC)))
def test_only_the_clock_asks_for_the_time(path: Path) -> None:
    """Code that asks the machine for the time breaks virtual time; it asks `clock.current()`."""
    assert asked(path.read_text()) == []


@pytest.mark.parametrize(
    "source",
    ["time.time()", "import datetime; datetime.datetime.now()", "from time import monotonic"],
)
def test_the_lint_sees_each_way_to_ask(source: str) -> None:
    """The lint itself can fail."""
    assert asked(source) != []
