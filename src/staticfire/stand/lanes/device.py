"""What a lane runs on: asserted by its name, before anything is started."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence

from staticfire.stand.lanes.base import LaneFailed

__all__ = ["assert_device", "devices"]

PATIENCE = 120.0
"""Seconds; torch takes some to find its devices."""

BY_DRIVER = ("nvidia-smi", "--query-gpu=name", "--format=csv,noheader")

BY_TORCH = (
    "import torch\nfor n in range(torch.cuda.device_count()): print(torch.cuda.get_device_name(n))"
)
"""For the Python of an engine: what the driver has is of no use to it if torch does not see it."""


def devices(python: str = "") -> tuple[list[str], str]:
    """The names of the GPUs that are here, and who said so: the torch of `python`, or the driver."""
    if python:
        return _lines((python, "-c", BY_TORCH)), f"torch.cuda of {python}"
    program = shutil.which(BY_DRIVER[0])
    if program is None:
        return [], "there is no nvidia-smi"
    return _lines((program, *BY_DRIVER[1:])), BY_DRIVER[0]


def assert_device(lane: str, wanted: str, python: str = "") -> None:
    """Raises `LaneFailed` unless a GPU has `wanted` in its name, in any case.

    With `python`, the torch of that interpreter has to see it.
    """
    found, who = devices(python)
    if any(wanted.lower() in name.lower() for name in found):
        return
    named = ", ".join(found) if found else "no device"
    raise LaneFailed(lane, f"expected the device {wanted!r}, found {named} ({who})")


def _lines(command: Sequence[str]) -> list[str]:
    try:
        said = subprocess.run(  # noqa: S603 - the driver's program, or the lane's own Python
            command, capture_output=True, text=True, timeout=PATIENCE, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return [line.strip() for line in said.stdout.splitlines() if line.strip()]
