"""The router's log as lines of text or of JSON, with the id of the request that each is about."""

from __future__ import annotations

import logging
import sys
from datetime import UTC, datetime
from typing import Literal, TextIO

import msgspec

from staticfire.clock import NS
from staticfire.router.passage import Passage
from staticfire.wire import Answer

__all__ = ["Requests", "Which", "configure"]

Which = Literal["none", "failed", "all"]

log = logging.getLogger("staticfire.router.requests")

_FIELDS = "staticfire"
"""Under which a record carries fields beside its words."""


class JsonLines(logging.Formatter):
    """One JSON object a line: time, level, logger, message, then the record's own fields."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC)
        line: dict[str, object] = {
            "time": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, _FIELDS, {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return msgspec.json.encode(line).decode()


class TextLines(logging.Formatter):
    """One line of text; the record's own fields follow as name=value."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, object] = getattr(record, _FIELDS, {})
        tail = "".join(
            f" {name}={value}" for name, value in fields.items() if value not in (None, "")
        )
        return super().format(record) + tail


def configure(level: str, form: str, stream: TextIO | None = None) -> None:
    """Send the whole process's log to a stream, standard error by default."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines() if form == "json" else TextLines())
    logging.basicConfig(level=level, handlers=[handler], force=True)


class Requests:
    """A line for each request, or for those that failed: what nobody reads costs nothing.

    The path is told, never the query, a header or the body.
    """

    def __init__(self, which: Which = "failed") -> None:
        self._all = which == "all"
        self._none = which == "none"

    def ended(self, passage: Passage, answer: Answer, now: int, code: str) -> None:
        """A request ended, with an answer or with its client; `code` is our own error's."""
        if self._none:
            return
        failed = answer.status >= 500 or (answer.ended and not answer.whole)
        if not failed and not self._all:
            return
        level = logging.WARNING if failed else logging.INFO
        if not log.isEnabledFor(level):
            return
        fields = {
            "request_id": passage.id.decode("latin-1"),
            "method": passage.request.method.decode("latin-1"),
            "path": passage.route.decode("latin-1"),
            "status": answer.status,
            "whole": answer.whole,
            "error": code,
            "model": passage.model,
            "worker": passage.worker,
            "attempts": passage.attempts,
            "seconds": round((now - passage.arrived) / NS, 6),
        }
        log.log(level, "request", extra={_FIELDS: fields})
