"""What one upstream attempt says about the worker.

Pure: no I/O, no clock. The breaker and the outcome metric are fed from the one value made here,
so they cannot disagree.
"""

from __future__ import annotations

import enum
from typing import Literal

import msgspec

__all__ = [
    "BACKPRESSURE",
    "Ended",
    "Outcome",
    "classify",
    "declared_status",
    "event_status",
]

BACKPRESSURE = frozenset((429, 503, 529))
"""Statuses by which an engine sheds load; a setting of the router."""

_BODY_LIMIT = 64 << 10  # an error body is small; a larger one is not read for a code


class Outcome(enum.Enum):
    """The verdict of one attempt, named as in the metric."""

    success = "success"
    client_error = "client_error"
    backpressure = "backpressure"
    error = "error"
    cancelled = "cancelled"

    # Each is one object: by identity it is found in tables in half the time.
    __hash__ = object.__hash__


class Ended(msgspec.Struct, frozen=True):
    """How an upstream attempt ended.

    `how` is `whole` when the answer ended as its framing said, `cut` when it ended before that or
    was not HTTP, `failed` for everything before a head: refused, timed out, an unusable URL;
    `cancelled` when the client left. `event` is the status that the first error event of a
    stream declares (500 where it declares none), None for a stream without one.
    """

    how: Literal["whole", "cut", "failed", "cancelled"]
    status: int = 0
    body: bytes = b""
    event: int | None = None


def classify(ended: Ended, backpressure: frozenset[int] = BACKPRESSURE) -> Outcome:
    """The outcome of an attempt that has ended.

    Below 500 the worker answered, so it is well: `client_error` for 4xx is a success to the
    breaker and a label to the metric. 429, 503 and 529 (the set is a setting) say "not now":
    a worker that sheds is alive. Other 5xx are errors, unless the body itself declares a 4xx code,
    which engines send for requests that they refuse. A stream is judged at its end, by its error
    event if it has one, because an engine may answer 200 and say 503 in the first event.

    The trade-off: a worker that is stuck on 503 for ever looks busy here, never broken. No
    counter in this file can tell the two apart; that is the task of the wedged signal, which
    asks the worker's own metrics.
    """
    if ended.how == "cancelled":
        return Outcome.cancelled
    if ended.how != "whole":
        return Outcome.error
    status = ended.status
    if ended.event is not None and status < 400:
        return _of_status(ended.event, backpressure)
    if status >= 500 and status not in backpressure:
        declared = declared_status(ended.body)
        if declared is not None and 400 <= declared < 500:
            return _of_status(declared, frozenset())
    return _of_status(status, backpressure)


def _of_status(status: int, backpressure: frozenset[int]) -> Outcome:
    if status in backpressure:
        return Outcome.backpressure
    if status >= 500:
        return Outcome.error
    return Outcome.client_error if status >= 400 else Outcome.success


def declared_status(body: bytes) -> int | None:
    """The HTTP status that an error body itself declares, or None.

    Read from `{"error": {"code": 400}}` and from `{"code": 400, "object": "error"}`, the shapes
    of the engines; a code in words is none.
    """
    if not body or len(body) > _BODY_LIMIT:
        return None
    try:
        document = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    if not isinstance(document, dict):
        return None
    error = document.get("error")
    for place in (error, document):
        if isinstance(place, dict):
            for key in ("code", "status", "status_code"):
                found = _status(place.get(key))
                if found is not None:
                    return found
    return None


def _status(value: object) -> int | None:
    if isinstance(value, str) and len(value) == 3 and value.isascii() and value.isdigit():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 400 <= value <= 599:
        return value
    return None


def event_status(name: bytes, data: bytes) -> int | None:
    """The status that a stream's event declares when it is an error event, else None.

    An error event is named `error`, or its data is an object with a filled `error` member or with
    `"object": "error"`. One without a readable code counts as 500: the stream failed.
    """
    named = name == b"error"
    if not named and b'"error"' not in data:
        return None
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return 500 if named else None
    marked = isinstance(document, dict) and (
        bool(document.get("error")) or document.get("object") == "error"
    )
    if not named and not marked:
        return None
    found = declared_status(data)
    return 500 if found is None else found
