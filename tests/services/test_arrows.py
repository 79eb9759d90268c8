"""What a production user loads with services: no test stack."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"pytest", "aiohttp", "pydantic", "prometheus_client", "h11", "rich", "msgspec"}


def loaded(code: str) -> set[str]:
    """The modules that a fresh interpreter has after some code."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)"],
        capture_output=True, text=True, check=True, timeout=30,
    )  # fmt: skip
    return set(done.stdout.split())


def test_the_room_loads_only_what_is_below_it():
    """Readiness, wire, clock, errors; neither the mock engines nor the router nor the judge."""
    modules = [
        "check",
        "codec",
        "damage",
        "decide",
        "home",
        "host",
        "launch",
        "logs",
        "processes",
        "schema",
        "service",
        "store",
        "supervise",
        "view",
        "wait",
    ]
    found = loaded("\n".join(f"import staticfire.services.{name}" for name in modules))
    rooms = {name.split(".")[1] for name in found if name.startswith("staticfire.")}
    assert rooms == {"services", "readiness", "wire", "clock", "errors"}
    assert not HEAVY & found


@pytest.mark.parametrize("words", [["services", "list"], ["probe", "http://127.0.0.1:1"]])
def test_a_command_stays_light_to_its_end(words, tmp_path, monkeypatch):
    """Nothing heavy comes with what a command loads only while it runs."""
    monkeypatch.setenv("STATICFIRE_HOME", str(tmp_path / "state"))
    found = loaded(f"from staticfire.cli import main\ntry: main({words})\nexcept SystemExit: pass")
    assert "staticfire.readiness" in found
    assert not HEAVY & found


@pytest.mark.parametrize("command", ["serve", "services", "supervise", "wait", "probe"])
def test_a_command_starts_light(command):
    """What a shell waits for each time loads nothing heavy."""
    found = loaded(f"import staticfire.cli.{command}")
    assert not HEAVY & found
