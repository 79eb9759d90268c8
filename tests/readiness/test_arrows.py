"""What a production user loads with readiness: no test stack."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("module", "allowed"),
    [
        ("staticfire.readiness", {"readiness", "wire", "clock", "errors"}),
        ("staticfire.expectations", {"expectations", "errors"}),
    ],
)
def test_a_room_loads_only_what_is_below_it(module, allowed):
    """Neither the mock engines nor the judge nor pytest come with it."""
    code = f"import sys, {module}; print(*sys.modules)"
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30
    ).stdout.split()
    rooms = {name.split(".")[1] for name in out if name.startswith("staticfire.")}
    assert rooms == allowed
    assert not {"pytest", "aiohttp", "pydantic", "prometheus_client", "h11"} & set(out)
