"""Steps of raw engines: answers byte by byte, and names that lead to them."""

from __future__ import annotations

import asyncio
import re
import socket
from typing import Any

from staticfire.bdd.raw_engine import RawEngine, read_play
from staticfire.bdd.step import given
from staticfire.bdd.world import MODEL, World


@given(
    'a raw engine "{name}" that answers chat with',
    example='a raw engine "one" that answers chat with',
)
async def _(world: World, name: str, docstring: str) -> None:
    """Lists the model; chat gets these bytes, a write a line: ¶ is CRLF, `[0.5 s]`, `[close]` …"""
    await start(world, RawEngine(name, MODEL, read_play(addressed(world, docstring))))


@given(
    'a raw engine "{name}" that answers its list with',
    example='a raw engine "one" that answers its list with',
)
async def _(world: World, name: str, docstring: str) -> None:
    """The same for `/v1/models`; its chat is honest."""
    body = b'{"model": "%s", "choices": [{"message": {}}]}' % MODEL.encode()
    chat = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)
    await start(world, RawEngine(name, MODEL, (chat,), read_play(docstring)))


def addressed(world: World, text: str) -> str:
    """The text with the addresses of engines that it names."""
    return re.sub(r"\{url of (\w+)\}", lambda found: world.engine(found[1]).url, text)


async def start(world: World, engine: RawEngine) -> None:
    """Start it as an engine of the scenario."""
    await engine.start()
    world.enter(engine.name, engine)


@given(
    'the name "{host}" leads to an address where nobody listens, then to engine "{name}"',
    example='the name "localhost" leads to an address where nobody listens, then to engine "one"',
)
async def _(world: World, host: str, name: str) -> None:
    """A name with two addresses, the engine on the second; as `localhost` is ::1 and 127.0.0.1."""
    port = int(world.engine(name).url.rpartition(":")[2])
    rows = [("127.0.0.2", port), ("127.0.0.1", port)]
    resolve(host, [(socket.AF_INET, socket.SOCK_STREAM, 6, "", row) for row in rows])


@given(
    'the name "{host}" is looked up for ever',
    example='the name "engine.test" is looked up for ever',
)
async def _(host: str) -> None:
    """A resolver that hangs."""
    resolve(host, None)


def resolve(host: str, rows: list[Any] | None) -> None:
    """Let the scenario's loop resolve a name so; without rows it never does."""
    loop: Any = asyncio.get_running_loop()
    honest = loop.getaddrinfo

    async def getaddrinfo(asked: Any, *args: Any, **kwargs: Any) -> Any:
        if asked != host:
            return await honest(asked, *args, **kwargs)
        if rows is None:
            await loop.create_future()
        return rows

    loop.getaddrinfo = getaddrinfo
