"""The shell session of the how-to runs as it stands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.realtime

PAGE = Path(__file__).parents[2] / "docs/how-to/run-a-service.md"


def test_the_session_of_the_how_to(staticfire, tmp_path):
    """Serve, list, kill -9, it comes back, stop: each line works in a shell, in that order."""
    text = PAGE.read_text(encoding="utf-8")
    found = re.search(r"```sh session\n(.*?)```", text, re.DOTALL)
    assert found is not None
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "python").symlink_to(sys.executable)
    command = tools / "staticfire"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m staticfire "$@"\n')
    command.chmod(0o700)
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-ec", f"{found[1]}kill $!"], cwd=tmp_path, capture_output=True, text=True,
        env=staticfire.environ | {"PATH": path}, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "1 service: 1 ready" in done.stdout
    assert "restarts 1" in done.stdout
    assert done.stdout.endswith("qwen: stopped\n")
