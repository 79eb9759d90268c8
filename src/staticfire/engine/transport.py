"""What aiohttp sees as its transport: the tap, which decides what the socket sees of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from staticfire.engine.tap import Tap

__all__ = ["TapTransport"]


class TapTransport(asyncio.Transport):
    """What aiohttp sees as its transport."""

    def __init__(self, tap: Tap) -> None:
        self.tap = tap

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self.tap.real.get_extra_info(name, default)

    def is_closing(self) -> bool:
        return self.tap.app_closed or self.tap.over or self.tap.real.is_closing()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.tap.send(bytes(data))

    def writelines(self, list_of_data: Iterable[Any]) -> None:
        self.tap.send(b"".join(list_of_data))

    def close(self) -> None:
        self.tap.app_close()

    def abort(self) -> None:
        self.tap.app_close()

    def write_eof(self) -> None:
        self.tap.app_close()

    def can_write_eof(self) -> bool:
        return True

    def pause_reading(self) -> None:
        if not self.tap.over:
            self.tap.real.pause_reading()

    def resume_reading(self) -> None:
        if not self.tap.over:
            self.tap.real.resume_reading()

    def is_reading(self) -> bool:
        return self.tap.real.is_reading()

    def get_write_buffer_size(self) -> int:
        return self.tap.real.get_write_buffer_size() + self.tap.queued

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self.tap.real.set_write_buffer_limits(high, low)
