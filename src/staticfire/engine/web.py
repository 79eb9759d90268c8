"""The edge to aiohttp: its connection protocol, its requests, its responses."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Protocol, cast

from aiohttp import web

from staticfire.engine.actions import LENGTH, Action, Finish, Head, Headers, Send
from staticfire.engine.framing import Manner, head_bytes
from staticfire.engine.transport import TapTransport

__all__ = ["CLOSE", "KEEP", "Answered", "Host", "connection", "replayed", "server"]

_QUIET = logging.getLogger("staticfire.engine.http")
_QUIET.addHandler(logging.NullHandler())
_QUIET.propagate = False


class Host(Protocol):
    """What a connection asks of its engine."""

    tasks: int
    manner: Manner
    errors: list[BaseException]

    def not_http(self) -> tuple[Head, bytes]:
        """The answer to bytes that are no HTTP."""
        ...

    def complain(self, status: int, message: str | None) -> tuple[Headers, bytes]:
        """An error in the engine's dialect."""
        ...

    def task_ended(self) -> None:
        """One connection's task is over."""
        ...


class Answered:
    """What aiohttp gets for a response once the tap has played the answer."""

    def __init__(self, *, keep_alive: bool) -> None:
        self.keep_alive = keep_alive

    async def prepare(self, request: web.BaseRequest) -> None:
        """Nothing is left to send."""

    async def write_eof(self) -> None:
        """Nothing is left to send."""


KEEP, CLOSE = Answered(keep_alive=True), Answered(keep_alive=False)


class _Connection(web.RequestHandler):
    """aiohttp's connection, less its own words for bytes that are no HTTP."""

    __slots__ = ("host",)

    host: Host

    async def start(self) -> None:
        self.host.tasks += 1
        try:
            await super().start()
        finally:
            self.host.task_ended()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        del request
        tap = cast(TapTransport, self.transport).tap
        if status == 400:
            tap.note("not HTTP", note=message or "")
            head, body = self.host.not_http()
        else:
            tap.note("handler failed", note=f"{type(exc).__name__}: {exc}" if exc else "")
            self.host.errors.append(exc if exc is not None else RuntimeError(message))
            headers, body = self.host.complain(500, None)
            head = Head(500, headers)
        entry = tap.entry
        if entry is not None and status != 400:
            entry.end("failed", tap.clock.now())
        if entry is None or entry.status is None:
            begun = head_bytes(head, closing=True, http10=False, manner=self.host.manner)
            tap.send(begun + body)
            if entry is not None:
                entry.status = head.status
        return cast(web.StreamResponse, CLOSE)


Handle = Callable[[web.BaseRequest], Awaitable[Answered]]


def server(handle: Handle) -> web.Server:
    """Aiohttp's server, which logs nothing and cancels a handler whose client has left."""
    return web.Server(
        handle,  # type: ignore[arg-type]  # `Answered` is all that aiohttp asks of a response
        request_factory=_request,
        handler_cancellation=True,
    )


def connection(server: web.Server, host: Host) -> web.RequestHandler:
    """A protocol for one connection of an engine."""
    made = _Connection(
        server,
        loop=server._loop,  # noqa: SLF001 - as `web.Server.__call__` does
        access_log=None,  # type: ignore[arg-type]  # None is how aiohttp spells "no log"
        logger=_QUIET,
        lingering_time=0,
    )
    made.host = host
    return made


def _request(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
    """A request without aiohttp's limit of 1 MiB on its body."""
    loop = task.get_loop()
    return web.BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=0)


def replayed(response: web.Response) -> Iterator[Action]:
    """A user handler's response as actions, so that faults and journal treat it like any other."""
    body = response.body
    assert body is None or isinstance(body, bytes)
    headers = tuple((name.encode(), value.encode()) for name, value in response.headers.items())
    size = (b"content-length", str(len(body or b"")).encode())
    reason = response.reason.encode() if response.reason else None
    yield Head(response.status, (*headers, size), LENGTH, reason)
    if body:
        yield Send(body)
    yield Finish()
