"""Answers that are made to their end although their client may be gone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

from staticfire.engine.journal import Entry

__all__ = ["Outliving", "is_called"]


class Outliving:
    """The tasks of such answers, each with its request; `ended` is told of each at its end."""

    __slots__ = ("_tasks", "ended")

    def __init__(self) -> None:
        self._tasks: dict[asyncio.Task[bool], Entry] = {}
        self.ended: Callable[[BaseException | None], None] = lambda _: None

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def adopt(self, entry: Entry, rest: Coroutine[Any, Any, bool]) -> asyncio.Task[bool]:
        """Perform the rest of an answer in a task of its own."""
        task = asyncio.get_running_loop().create_task(rest)
        self._tasks[task] = entry
        task.add_done_callback(self._gone)
        return task

    def end(self, wanted: Callable[[Entry], bool] = lambda _: True) -> None:
        """End those that are wanted, at this instant."""
        for task, entry in list(self._tasks.items()):
            if wanted(entry):
                task.cancel()

    def _gone(self, task: asyncio.Task[bool]) -> None:
        del self._tasks[task]
        self.ended(None if task.cancelled() else task.exception())


def is_called(entry: Entry, request_id: str | None) -> bool:
    """Whether a request has this id, in its header or its body; None is the id of every request."""
    if request_id is None:
        return True
    if (b"x-request-id", request_id.encode()) in ((k.lower(), v) for k, v in entry.headers):
        return True
    try:
        body = json.loads(entry.body)
    except ValueError:
        return False
    own = (body.get("rid"), body.get("request_id")) if isinstance(body, dict) else ()
    return request_id in own
