"""The measurements work; what they measure is told by `bench/run.py`, never by a test."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.realtime

ROOT = Path(__file__).parents[2]

NAMES = (
    "engines", "engines_10k", "json", "tokens", "kv_token", "loading", "sessions", "timers",
    "dribble", "forward", "choose", "scrape", "gate", "services", "peers", "report",
    "router_programs",
)  # fmt: skip


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("bench.run")


def test_names_are_all_of_them(bench):
    """Each measurement has a tiny size and a smoke test."""
    assert set(bench.MEASUREMENTS) == set(bench.TINY) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_measurement_works_in_a_tiny_size(bench, name):
    """A measurement gives figures above zero, in a unit, that no machine could exceed a lot."""
    figures = bench.MEASUREMENTS[name](**bench.TINY[name])
    assert figures
    most = {
        "µs CPU": 1e5,
        "µs": 1e5,
        "ms": 1e3,
        "s": 60,
        "KiB": 1e6,
        "MiB": 1e4,
        "MB": 10,
        "times": 1e3,
        "requests": 10,
        "% of a core": 100,
    }
    for figure in figures:
        low = -1.0 if figure.unit == "KiB" else 0.0  # ten engines may fit into memory held already
        assert all(low < value < most[figure.unit] for value in figure.values), figure
        assert figure.bar is None or figure.bar > 0


def test_a_missed_bar_is_told(bench, monkeypatch, capsys):
    """A median over its bar gives exit status 1, one that keeps it 0; JSON names both."""
    figure = importlib.import_module("bench.figure").Figure
    monkeypatch.setitem(bench.MEASUREMENTS, "timers", lambda: [figure("a", "s", (1, 9, 3), 2)])
    monkeypatch.setitem(bench.MEASUREMENTS, "dribble", lambda: [figure("b", "s", (1, 9, 3), 3)])
    assert bench.main(["timers", "--json"]) == 1
    (told,) = json.loads(capsys.readouterr().out)
    assert (told["median"], told["min"], told["max"], told["met"]) == (3, 1, 9, False)
    assert bench.main(["dribble"]) == 0
    assert "yes" in capsys.readouterr().out


def test_an_unknown_name_is_refused(bench, capsys):
    """A wrong name is a usage error that lists the right ones."""
    with pytest.raises(SystemExit) as exit_:
        bench.main(["engine"])
    assert exit_.value.code == 2
    assert "engines" in capsys.readouterr().err
