"""A lane of programs that are started on a model which we write: no download, known answers."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from staticfire.stand.lanes.command import CommandLane

__all__ = ["OFFLINE", "OwnModelLane"]

OFFLINE: Mapping[str, str] = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
"""So that nothing is asked of a network which is not there."""


class OwnModelLane(CommandLane):
    """Keeps a folder for what is written, until the run ends."""

    def __init__(self, command: Sequence[str], **options: Any) -> None:
        self._made: tempfile.TemporaryDirectory[str] | None = None
        super().__init__(command, **options)

    def folder(self) -> Path:
        """The lane's own folder, made when first asked for."""
        if self._made is None:
            self._made = tempfile.TemporaryDirectory(prefix=f"staticfire-{self.kind}-")
        return Path(self._made.name)

    def environ(self) -> dict[str, str]:
        return {**OFFLINE, **self.env}

    def close(self) -> None:
        super().close()
        if self._made is not None:
            self._made.cleanup()
            self._made = None
