"""What engines on uvicorn and FastAPI share: their head, their 404 and 405, their bad bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from staticfire.engine.actions import LENGTH, UNFRAMED, Finish, Head, Headers, Send
from staticfire.engine.ask import Ask
from staticfire.engine.personalities.base import Desk
from staticfire.engine.personalities.talk import Answer

__all__ = ["JSON", "SSE", "Route", "Routes", "answered", "dispatch", "headers", "not_http"]

JSON = b"application/json"
SERVER = (b"server", b"uvicorn")
SSE = b"text/event-stream; charset=utf-8"

Route = Callable[[Any, Ask, Desk], Answer]
Routes = Mapping[str, Mapping[str, Route]]
"""Path → method → what answers it, a method of the personality."""


def headers(
    desk: Desk, length: int | None, kind: bytes | None, *own: tuple[bytes, bytes], allow: str = ""
) -> Headers:
    """The head's fields in uvicorn's order, then the engine's own."""
    date, engine = (b"date", desk.date()), (b"x-engine", desk.identity.name.encode())
    if length is not None and kind is not None and not allow:  # hot
        sized = (b"content-length", b"%d" % length)
        return (date, SERVER, sized, (b"content-type", kind), *own, engine)
    pairs = [date, SERVER]
    if allow:
        pairs.append((b"allow", allow.encode()))
    if length is not None:
        pairs.append((b"content-length", b"%d" % length))
    if kind is not None:
        pairs.append((b"content-type", kind))
    return (*pairs, *own, engine)


def answered(status: int, fields: Headers, body: bytes) -> Answer:
    """An answer of known length."""
    yield Head(status, fields, LENGTH)
    if body:
        yield Send(body)
    yield Finish()


def dispatch(
    personality: Any, routes: Routes, ask: Ask, desk: Desk, *own: tuple[bytes, bytes]
) -> Answer:
    """What a route answers; FastAPI's 404 and 405 where there is none."""
    methods = routes.get(ask.path)
    if methods is None:
        body = b'{"detail":"Not Found"}'
        return answered(404, headers(desk, len(body), JSON, *own), body)
    route = methods.get(ask.method)
    if route is None:
        body = b'{"detail":"Method Not Allowed"}'
        fields = headers(desk, len(body), JSON, *own, allow=next(iter(methods)))
        return answered(405, fields, body)
    return route(personality, ask, desk)


def not_http(desk: Desk, *, h11: bool = False) -> tuple[Head, bytes]:
    """Uvicorn's answer to bytes that are no HTTP; on h11 it has no date and no length."""
    body, kind = b"Invalid HTTP request received.", (b"content-type", b"text/plain; charset=utf-8")
    if h11:
        return Head(400, (kind, (b"Connection", b"close")), UNFRAMED), body
    begun = ((b"date", desk.date()), SERVER)
    return Head(400, (*begun, kind, (b"content-length", b"%d" % len(body)))), body
