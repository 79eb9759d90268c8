"""The client connection: one reply, whole by its own framing."""

from __future__ import annotations

import asyncio
import socket
import struct
import sys

import pytest

from staticfire import wire
from staticfire.clock.virtual import run


async def fetch(port, method="GET", **kwargs):
    connection = await wire.connect(wire.Address("127.0.0.1", port))
    try:
        return await connection.fetch(method, "/x", **kwargs)
    finally:
        connection.abort()
        await asyncio.sleep(0)


def said(serving, raw, *, method="GET", ends="holds", cuts=(), **kwargs):
    """What `fetch` makes of raw bytes, after which the peer holds, closes or resets."""

    async def play(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        pieces = [raw[a:b] for a, b in zip((0, *cuts), (*cuts, len(raw)), strict=True)]
        for piece in pieces:
            writer.write(piece)
            await asyncio.sleep(0.1)
        if ends == "holds":
            await asyncio.Event().wait()
        if ends == "resets":
            plain = writer.get_extra_info("socket")
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    async def main():
        async with serving(play) as port, asyncio.timeout(60):
            return await fetch(port, method, **kwargs)

    return run(main())


HELLO = b"content-length: 5\r\n\r\nhello"
WHOLE = [
    (b"HTTP/1.1 200 OK\r\n" + HELLO, 200, b"hello"),
    (b"HTTP/1.0 200 OK\r\n" + HELLO, 200, b"hello"),
    (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", 200, b"hello"),
    (b"HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n0\r\nx-t: 1\r\n\r\n", 200, b""),
    (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b""),
    (b"HTTP/1.1 204 No Content\r\n\r\nhello", 204, b""),
    (b"HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n", 304, b""),
    (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n" + HELLO, 200, b"hello"),
    (b"HTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 503 No\r\n" + HELLO, 503, b"hello"),
    (b"HTTP/1.1 200 OK\r\n" + HELLO + b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nno", 200, b"hello"),
    (b"HTTP/1.1 200 OK\r\n" + HELLO + b"junk", 200, b"hello"),
    (b"HTTP/1.1 200 OK\r\nconnection: close\r\n" + HELLO + b"junk", 200, b"hello"),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "status", "body"), WHOLE)
def test_whole_while_held_open(serving, raw, status, body):
    """A reply is whole by its own framing, at once, though the socket stays open."""
    reply = said(serving, raw)
    assert (reply.status, reply.body) == (status, body)


@pytest.mark.parametrize(("raw", "status", "body"), WHOLE)
def test_whole_at_any_cut(serving, raw, status, body):
    """A reply that arrives byte by byte is the same reply."""
    reply = said(serving, raw, cuts=tuple(range(1, len(raw))))
    assert (reply.status, reply.body) == (status, body)


def test_head_reply_has_no_body(serving):
    """A HEAD reply ends at its head, whatever length it announces."""
    reply = said(serving, b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n", method="HEAD")
    assert (reply.status, reply.body) == (200, b"")


def test_end_of_file_is_a_framing(serving):
    """Without length or chunks the body ends with an orderly close."""
    assert said(serving, b"HTTP/1.1 200 OK\r\n\r\nhello", ends="closes").body == b"hello"


@pytest.mark.parametrize(
    ("raw", "ends", "reset", "began"),
    [
        (b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nhello", "closes", False, True),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nhello", "resets", True, True),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n", "closes", False, True),
        (b"HTTP/1.1 200 OK\r\n\r\nhello", "resets", True, True),
        (b"HTTP/1.1 200 OK\r\ncontent-le", "closes", False, True),
        (b"HTTP/1.1 100 Continue\r\n\r\n", "closes", False, True),
        (b"", "closes", False, False),
        (b"", "resets", True, False),
    ],
)  # fmt: skip
def test_cut(serving, raw, ends, reset, began):
    """A reply that ends before its framing says so is a cut, which tells FIN from RST."""
    with pytest.raises(wire.Cut) as caught:
        said(serving, raw, ends=ends)
    assert (caught.value.reset, caught.value.began) == (reset, began)


def test_too_large(serving):
    """A body over the limit is refused, by its announcement or by its bytes."""
    with pytest.raises(wire.TooLarge, match="limit of 4"):
        said(serving, b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n", limit=4)
    chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n"
    with pytest.raises(wire.TooLarge, match="limit of 4"):
        said(serving, chunked, limit=4)
    with pytest.raises(wire.TooLarge, match="head"):
        said(serving, b"HTTP/1.1 200 OK\r\nx: " + b"y" * (300 << 10))


def test_unreachable():
    """A refused connect says so, without an address."""

    async def main():
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
            with pytest.raises(wire.Unreachable) as caught:
                await wire.connect(wire.Address("127.0.0.1", port))
        assert caught.value.reason == "connection refused"

    run(main())


def test_one_connection_for_many(serving):
    """A connection is used again after a whole reply; one that the peer closed is known dead."""

    async def play(reader, writer):
        for _ in range(2):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\n" + HELLO)

    async def main():
        async with serving(play) as port:
            connection = await wire.connect(wire.Address("127.0.0.1", port))
            await connection.fetch("GET", "/")
            assert connection.reusable
            await connection.fetch("GET", "/")
            await asyncio.sleep(1)
            assert not connection.reusable
            with pytest.raises(wire.Cut):
                await connection.fetch("GET", "/")

    run(main())


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 200 OK\r\nconnection: close\r\n" + HELLO,
        b"HTTP/1.0 200 OK\r\n" + HELLO,
        b"HTTP/1.1 200 OK\r\n" + HELLO + b"x",
        b"HTTP/1.1 200 OK\r\n" + HELLO + b"HTTP/1.1 200 OK\r\n" + HELLO,
        b"HTTP/1.1 204 No Content\r\n\r\nx",
    ],
)
def test_not_used_again(serving, raw):
    """A peer that closes, or that sent bytes after the end, gets no second request."""

    async def play(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(raw)
        await reader.read()

    async def main():
        async with serving(play) as port:
            connection = await wire.connect(wire.Address("127.0.0.1", port))
            await connection.fetch("GET", "/")
            assert not connection.reusable
            connection.abort()

    run(main())


def test_slow_reader_slows_the_worker(serving):
    """While nobody takes the body, the socket is not read: the peer's writing stalls."""
    sent = 0

    async def play(reader, writer):
        nonlocal sent
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % (64 << 20))
        while sent < 64 << 20:
            writer.write(b"x" * (1 << 20))
            sent += 1 << 20
            await writer.drain()

    async def main():
        async with serving(play) as port:
            connection = await wire.connect(wire.Address("127.0.0.1", port))
            exchange = connection.exchange("GET", "/")
            await exchange.head()
            await asyncio.sleep(5)
            assert sent < 32 << 20
            assert sum([len(chunk) async for chunk in exchange]) == 64 << 20
            connection.close()

    run(main())


def test_fetch_refuses_line_ends_in_headers(serving):
    """A header value cannot smuggle a second header in."""
    with pytest.raises(ValueError, match="no line ends"):
        said(serving, b"", headers=[(b"a", b"b\r\nc: d")])


@pytest.mark.parametrize("late", [None, b"x"])
def test_death_is_seen_before_the_loop_has_heard_of_it(late):
    """An idle connection is asked at the socket: a FIN or stray bytes count at once."""

    async def main():
        with socket.create_server(("127.0.0.1", 0)) as listener:
            connection = await wire.connect(wire.Address(*listener.getsockname()))
            peer, _ = listener.accept()
            assert connection.reusable
            peer.close() if late is None else peer.sendall(late)
            assert connection.free
            assert not connection.reusable
            connection.abort()
            peer.close()
            await asyncio.sleep(0)

    run(main())


@pytest.mark.parametrize("read", [False, True])
def test_what_a_closed_peer_took(read):
    """A request that crossed its peer's close was taken by nobody; one that was read may have begun."""

    async def main():
        with socket.create_server(("127.0.0.1", 0)) as listener:
            address = wire.parse_url(f"http://127.0.0.1:{listener.getsockname()[1]}")
            connection = await wire.connect(address)
            peer = listener.accept()[0]
            exchange = connection.exchange("GET", "/first")
            peer.recv(1000)
            peer.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
            assert (await exchange.head()).status == 204
            if not read:
                peer.close()  # its FIN is here, but the loop has not seen it
            exchange = connection.exchange("POST", "/second", body=b"x" * 100)
            if read:
                peer.recv(1000)
                peer.close()
            with pytest.raises(wire.Cut) as cut:
                await exchange.head()
            assert cut.value.taken is (read or not sys.platform.startswith("linux"))

    run(main())
