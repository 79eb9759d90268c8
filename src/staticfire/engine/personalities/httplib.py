"""What engines on cpp-httplib share: their head, their answers, their bad bytes."""

from __future__ import annotations

from staticfire.engine.actions import LENGTH, UNFRAMED, Finish, Head, Headers, Outlive, Send
from staticfire.engine.ask import Ask
from staticfire.engine.personalities.base import Desk
from staticfire.engine.personalities.talk import Answer

__all__ = ["JSON", "answered", "has_key", "headers", "not_http", "preflight", "to_its_end"]

JSON = b"application/json; charset=utf-8"

Pair = tuple[bytes, bytes]


def headers(
    desk: Desk, server: tuple[Pair, ...], kind: bytes, length: int | None, *own: Pair
) -> Headers:
    """The server's own fields, those of the answer, then its type and length."""
    sized = () if length is None else ((b"Content-Length", b"%d" % length),)
    engine = (b"X-Engine", desk.identity.name.encode())
    return (*server, *own, (b"Content-Type", kind), *sized, engine)


def answered(status: int, fields: Headers, body: bytes) -> Answer:
    """An answer of known length."""
    yield Head(status, fields, LENGTH)
    if body:
        yield Send(body)
    yield Finish()


def not_http(server: Pair) -> tuple[Head, bytes]:
    """The answer to bytes that are no HTTP: its connection is said before its length."""
    fields = (server, (b"Connection", b"close"), (b"Content-Length", b"0"))
    return Head(400, fields, UNFRAMED), b""


def preflight(desk: Desk, server: tuple[Pair, ...]) -> Answer:
    """The answer to OPTIONS, whatever the path."""
    fields = (
        *server,
        (b"Access-Control-Allow-Credentials", b"true"),
        (b"Access-Control-Allow-Methods", b"GET, POST, DELETE, OPTIONS"),
        (b"Access-Control-Allow-Headers", b"*"),
        (b"Content-Type", b"text/html"),
        (b"Connection", b"close"),
        (b"Content-Length", b"0"),
        (b"X-Engine", desk.identity.name.encode()),
    )
    yield Head(200, fields, UNFRAMED)
    yield Finish()


def has_key(ask: Ask, key: str) -> bool:
    """Whether a request carries the server's key, in either of its headers."""
    given = ask.headers.get("authorization", "").removeprefix("Bearer ").strip()
    return key in (given, ask.headers.get("x-api-key"))


def to_its_end(answer: Answer) -> Answer:
    """An answer during which the client's leaving is not noticed."""
    yield Outlive()
    yield from answer
