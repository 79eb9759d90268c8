"""Running a coroutine from a command, on a real loop that a hung name lookup cannot hold up."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Coroutine
from typing import Any, NoReturn, TypeVar

__all__ = ["leave", "run_now"]

T = TypeVar("T")


def run_now(main: Coroutine[Any, Any, T]) -> T:
    """The result of `main`.

    `asyncio.run` would wait at its end for every thread of the default executor, and one that
    sits in `getaddrinfo` can sit there for minutes after its deadline.
    """
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(main)
    finally:
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        if tasks:
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def leave(code: int) -> NoReturn:
    """End the process with `code`, at once when a thread of an executor still hangs."""
    sys.stdout.flush()
    sys.stderr.flush()
    if any(t.name.startswith("asyncio_") and t.is_alive() for t in threading.enumerate()):
        os._exit(code)
    sys.exit(code)
