"""What a production user of the router does not load."""

from __future__ import annotations

import subprocess
import sys

import pytest

NEVER = ("pytest", "pytest_bdd", "aiohttp", "h11", "faker")


@pytest.mark.parametrize("module", ["staticfire.router", "staticfire.wire"])
def test_no_test_stack(module):
    """Importing it loads no test stack, no mock engine, no judge."""
    code = (
        f"import sys, {module}; print([name for name in sys.modules if name in {NEVER!r} or "
        "name.startswith(('staticfire.engine', 'staticfire.judge', 'staticfire.bdd'))])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
