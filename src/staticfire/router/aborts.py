"""The call that ends a generation in engines that go on without their client."""

from __future__ import annotations

import asyncio
import logging

import msgspec

from staticfire import wire
from staticfire.router.worker import Worker

__all__ = ["Aborter"]

log = logging.getLogger("staticfire.router")

_DEADLINE = 5.0
_AT_MOST = 256  # calls at once; a storm of leavers must not become a storm of calls


class Aborter:
    """Tells a worker that nobody waits for a request any more, by the request's id.

    `path` None: a closed connection is enough for the engines, and nothing is called. Best effort:
    a call that fails changes nothing, for no verdict hangs on it.
    """

    def __init__(self, path: str | None) -> None:
        self._path = None if path is None else path.encode()
        self._calls: set[asyncio.Task[None]] = set()

    def tell(self, worker: Worker, ident: bytes) -> None:
        """Call in the background."""
        if self._path is None or len(self._calls) >= _AT_MOST:
            return
        call = asyncio.get_running_loop().create_task(
            self._call(worker, self._path, ident), name=f"abort at {worker.id}"
        )
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)

    async def stop(self) -> None:
        """End what is still being told."""
        for call in tuple(self._calls):
            call.cancel()
        if self._calls:
            await asyncio.wait(tuple(self._calls))

    async def _call(self, worker: Worker, path: bytes, ident: bytes) -> None:
        body = msgspec.json.encode({"rid": ident.decode("latin-1")})
        headers: list[wire.Header] = [(b"content-type", b"application/json")]
        if worker.key is not None:
            headers.append((b"authorization", b"Bearer " + worker.key.encode()))
        try:
            async with asyncio.timeout(_DEADLINE):
                connection = worker.lines.idle() or await worker.lines.connect()
                await connection.fetch(b"POST", path, headers, body)
            worker.lines.give_back(connection)
        except (wire.WireError, TimeoutError) as error:
            log.debug("the abort of %r at %s failed: %s", ident, worker.id, error)
