"""A pytest plugin for tests: writes what each scenario's engines saw, one JSON line a scenario.

Ports are left out, and nothing else: journals of two runs with one seed must be equal.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from staticfire.bdd.keys import WORLD
from staticfire.engine import MockEngine


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    world = item.stash.get(WORLD, None)
    if world is None or not hasattr(world.loop, "loop"):
        return
    rows = sorted(
        (
            row.at,
            name,
            row.seq,
            row.connection,
            row.what,
            row.size,
            re.sub(r":\d{4,5}\b", "", row.note),
        )
        for name, engine in world.engines.items()
        if isinstance(engine, MockEngine)
        for row in engine.journal.rows
    )
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    with Path(os.environ["JOURNALS"], f"{worker}.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps([item.name, rows]) + "\n")
