"""How a request of a timeline is told: one kind a request, by its status and its end."""

from __future__ import annotations

from enum import StrEnum

from staticfire.report.results import Request

__all__ = ["Kind", "kind_of"]

SHEDS = frozenset({429, 503, 529})


class Kind(StrEnum):
    """What a bar of a timeline shows; the worst is last."""

    OK = "answered"
    REFUSED = "client error"
    """Below 500 and no answer: the request's own fault, or a redirect."""
    LEFT = "client left"
    GOING = "still going"
    BACKPRESSURE = "backpressure"
    ERROR = "error"
    BROKEN = "broken"
    """No whole answer: cut, reset, never answered."""


GOING = frozenset({"open", "held"})


def kind_of(request: Request) -> Kind:
    """The kind of one request."""
    if request.ended in ("client left", "aborted"):
        return Kind.LEFT
    if request.ended in GOING:
        return Kind.GOING
    if request.ended != "whole":
        return Kind.BROKEN
    status = request.status or 0
    if status in SHEDS:
        return Kind.BACKPRESSURE
    if status >= 500:
        return Kind.ERROR
    return Kind.OK if 200 <= status < 300 else Kind.REFUSED
