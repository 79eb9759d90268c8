"""The server side: requests in order, limits, early answers that can be read."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from staticfire import wire
from staticfire.clock.virtual import run


async def echo(request, answer):
    """Answers with what it was asked."""
    if request.target.startswith(b"/slow"):
        await asyncio.sleep(5)
    told = b"%s %s %s" % (request.method, request.target, request.body)
    if request.target == b"/chunks":
        answer.start(200, ())
        for word in told.split():
            answer.write(word)
        answer.finish()
    elif request.target == b"/cut":
        answer.start(200, ())
        answer.write(b"half")
        answer.cut()
    elif request.target == b"/raises":
        raise RuntimeError("a bug")
    elif request.target == b"/raises-late":
        answer.start(200, ())
        answer.write(b"half")
        raise RuntimeError("a bug")
    elif request.target == b"/silent":
        return
    else:
        answer.send(200, ((b"x-a", b"1"),), told)


def refuse(refusal):
    return ((b"x-why", refusal.message.encode()),), str(refusal.status).encode()


@contextlib.asynccontextmanager
async def listening(handler=echo, **limits):
    listener = wire.Listener(handler, refuse, wire.Limits(**limits))
    await listener.start("127.0.0.1", 0)
    try:
        yield listener
    finally:
        await listener.stop()
        assert not listener.connections
        assert not listener.tasks


def said(raw, *, pause=None, **limits):
    """Everything the server says to raw bytes until it closes or falls silent for a minute."""

    async def main():
        async with listening(**limits) as listener:
            reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
            for piece in [raw] if pause is None else [raw[i : i + 1] for i in range(len(raw))]:
                writer.write(piece)
                if pause is not None:
                    await asyncio.sleep(pause)
            heard = b""
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(60):
                    while data := await reader.read(1 << 16):
                        heard += data
                    heard += b"<end>"
            writer.close()
            await asyncio.sleep(0)
            return heard

    return run(main())


def ok(body, *lines):
    head = [b"HTTP/1.1 200 OK", b"x-a: 1", b"content-length: %d" % len(body), *lines]
    return b"\r\n".join(head) + b"\r\n\r\n" + body


GET = b"GET /%s HTTP/1.1\r\nhost: a\r\n\r\n"


def test_keep_alive():
    """A connection stays open after an answer."""
    assert said(GET % b"x") == ok(b"GET /x ")


def test_pipelined_in_order():
    """Pipelined requests are answered in the order of asking, a slow one first."""
    heard = said(GET % b"slow" + GET % b"b" + GET % b"c")
    assert heard == ok(b"GET /slow ") + ok(b"GET /b ") + ok(b"GET /c ")


@pytest.mark.parametrize("pause", [None, 0.01])
def test_bodies(pause):
    """A body arrives whole by length or by chunks, however it was cut; trailers are dropped."""
    raw = (
        b"POST /l HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nhi"
        b"POST /c HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n1\r\nh\r\n1\r\ni\r\n0\r\nt: 1\r\n\r\n"
    )
    assert said(raw, pause=pause) == ok(b"POST /l hi") + ok(b"POST /c hi")


def test_head():
    """An answer to HEAD has the length of the body, not the body."""
    heard = said(b"HEAD /x HTTP/1.1\r\nhost: a\r\n\r\n")
    assert heard == b"HTTP/1.1 200 OK\r\nx-a: 1\r\ncontent-length: 8\r\n\r\n"


def test_close_is_kept():
    """A client that says close gets its answer, then the end; what follows is not read."""
    heard = said(b"GET /x HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n" + GET % b"y")
    assert heard == ok(b"GET /x ", b"connection: close") + b"<end>"


def test_http_1_0():
    """HTTP/1.0 closes unless it asks to keep; unknown length ends with the connection."""
    assert said(b"GET /x HTTP/1.0\r\n\r\n").endswith(b"connection: close\r\n\r\nGET /x <end>")
    kept = said(b"GET /x HTTP/1.0\r\nconnection: keep-alive\r\n\r\n")
    assert kept.endswith(b"connection: keep-alive\r\n\r\nGET /x ")
    chunks = said(b"GET /chunks HTTP/1.0\r\nconnection: keep-alive\r\n\r\n")
    assert chunks == b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nGET/chunks<end>"


def test_chunked_answer():
    """A body of unknown length goes out in chunks, the head in one write with the first."""
    heard = said(GET % b"chunks")
    body = b"3\r\nGET\r\n7\r\n/chunks\r\n0\r\n\r\n"
    assert heard == b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + body


@pytest.mark.parametrize("target", [b"cut", b"raises-late"])
def test_cut_is_no_clean_end(target):
    """A cut answer closes without the last chunk; so does a handler that fails half-way."""
    heard = said(GET % target + GET % b"x")
    assert heard.endswith(b"\r\n\r\n4\r\nhalf\r\n<end>")


def test_cut_of_an_answer_that_ends_by_closing():
    """Where the close is the framing, a cut is a reset."""

    async def main():
        async with listening() as listener:
            reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
            writer.write(b"GET /cut HTTP/1.0\r\n\r\n")
            with pytest.raises(ConnectionResetError):
                while await reader.read(100):
                    pass
            writer.close()
            await asyncio.sleep(0)

    run(main())


@pytest.mark.parametrize("target", [b"raises", b"silent"])
def test_failing_handler(target):
    """A handler that fails or says nothing becomes a 500, then the end."""
    assert said(GET % target).startswith(b"HTTP/1.1 500 ")


def test_expect():
    """A client that waits for a 100 gets one, in its turn."""
    raw = b"POST /e HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\nexpect: 100-continue\r\n\r\n"

    async def main():
        async with listening() as listener:
            reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
            writer.write(GET % b"slow" + raw)
            assert await reader.readexactly(len(ok(b"GET /slow "))) == ok(b"GET /slow ")
            assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
            writer.write(b"hi")
            assert await reader.readexactly(len(ok(b"POST /e hi"))) == ok(b"POST /e hi")
            writer.write(raw)
            assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
            writer.close()
            await asyncio.sleep(0)

    run(main())


POST = b"POST / HTTP/1.1\r\nhost: a\r\n"


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (POST + b"transfer-encoding: gzip\r\n\r\n", 501),
        (POST + b"content-length: 101\r\nexpect: 100-continue\r\n\r\n", 413),
        (POST + b"content-length: 101\r\n\r\nabc", 413),
        (POST + b"transfer-encoding: chunked\r\n\r\n65\r\n" + b"x" * 101, 413),
        (POST + b"x: " + b"y" * 70_000 + b"\r\n\r\n", 431),
        (POST + b"x: " + b"y" * 400_000, 431),
        (POST + b"transfer-encoding: chunked\r\n\r\n0\r\n" + b"t: y\r\n" * 20_000, 431),
        (b"GET /" + b"y" * 70_000 + b" HTTP/1.1\r\nhost: a\r\n\r\n", 414),
        (b"CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n", 501),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    ],
)
def test_refused(raw, status):
    """What breaks a rule or a limit is refused at once, with the end announced."""
    heard = said(raw, body=100)
    assert heard.startswith(b"HTTP/1.1 %d " % status)
    assert b"\r\nconnection: close\r\n" in heard
    assert heard.endswith(b"%d<end>" % status)


def test_refused_in_its_turn():
    """A refusal waits behind the answers to the requests before it."""
    heard = said(GET % b"slow" + b"nonsense\r\n\r\n")
    assert heard.startswith(ok(b"GET /slow ") + b"HTTP/1.1 400 ")


def test_upgrade_is_ignored():
    """A client that offers h2c is answered in HTTP/1.1, and goes on so."""
    raw = b"GET /u HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n"
    assert said(raw + GET % b"x") == ok(b"GET /u ") + ok(b"GET /x ")


def test_absolute_form():
    """A target in absolute form is served as its path."""
    assert said(b"GET http://h:1/a?b HTTP/1.1\r\nhost: a\r\n\r\n") == ok(b"GET /a?b ")


def test_early_answer_is_read():
    """An answer that comes before the upload ended reaches a client that goes on writing."""

    async def main():
        async with listening(body=100) as listener:
            reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
            writer.write(POST + b"content-length: 8000000\r\n\r\n")
            for _ in range(8):
                writer.write(b"x" * 1_000_000)
                await writer.drain()
            heard = await reader.read()
            assert heard.startswith(b"HTTP/1.1 413 ")
            assert heard.endswith(b"413")
            writer.close()
            await asyncio.sleep(0)

    run(main())


@pytest.mark.parametrize("unread", [0, 32 << 20])
@pytest.mark.parametrize("half", [False, True])
def test_leaver_is_noticed(half, unread):
    """A client that closes, or half-closes, cancels the handler at once, unread bytes or not."""
    seen = []

    async def handler(request, answer):
        answer.start(200, ())
        answer.write(b"x" * unread)
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            seen.append(asyncio.get_running_loop().time())
            raise

    async def main():
        async with listening(handler) as listener:
            _, writer = await asyncio.open_connection("127.0.0.1", listener.port)
            writer.write(GET % b"x")
            await asyncio.sleep(3)
            writer.write_eof() if half else writer.close()
            await asyncio.sleep(1)
            writer.close()
        assert seen == [3.0]

    run(main())


def test_idle_connection_is_closed():
    """A connection on which nothing moves is closed; one with an answer under way is not."""
    assert said(GET % b"slow", idle=2.0) == ok(b"GET /slow ") + b"<end>"
    assert said(b"GET /x HT", idle=2.0) == b"<end>"


def test_client_that_takes_nothing_is_let_go():
    """An answered connection whose client does not read is thrown away after the idle time."""

    async def handler(request, answer):
        answer.send(200, (), b"x" * (32 << 20))

    async def main():
        async with listening(handler, idle=10.0) as listener:
            _, writer = await asyncio.open_connection("127.0.0.1", listener.port)
            writer.write(b"GET /x HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
            await asyncio.sleep(5)
            assert len(listener.connections) == 1
            await asyncio.sleep(20)
            assert not listener.connections
            writer.close()
            await asyncio.sleep(0)

    run(main())


def test_stop_with_grace():
    """Stopping lets the answer under way end, closes idle connections, cuts at the grace's end."""

    async def main():
        loop = asyncio.get_running_loop()
        for grace, took in ((10, 5.0), (2, 2.0)):
            async with listening() as listener:
                idle, idle_writer = await asyncio.open_connection("127.0.0.1", listener.port)
                reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
                writer.write(GET % b"slow")
                await asyncio.sleep(0.5)
                began = loop.time() - 0.5
                await listener.stop(grace)
                assert loop.time() - began == pytest.approx(took + (0.5 if grace == 2 else 0))
                assert await idle.read() == b""
                with contextlib.suppress(ConnectionResetError):
                    heard = await reader.read()
                    assert (heard == ok(b"GET /slow ", b"connection: close")) == (grace == 10)
                idle_writer.close()
                writer.close()
                await asyncio.sleep(0)

    run(main())


def test_a_leaver_in_the_same_moment_leaves_nothing():
    """A client that asks and is gone before its handler ran leaves no task behind."""

    async def main():
        async with listening() as listener:
            for _ in range(3):
                _, writer = await asyncio.open_connection("127.0.0.1", listener.port)
                (connection,) = listener.connections
                connection.data_received(GET % b"slow")
                connection.abort()
                writer.close()
                await asyncio.sleep(1)
            assert not listener.tasks

    run(main())


def test_the_last_answer():
    """An answer that is to be the last one says so, and its connection ends with it."""

    async def handler(request, answer):
        answer.last()
        answer.send(200, (), b"bye")

    async def main():
        async with listening(handler) as listener:
            reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
            writer.write(GET % b"x" + GET % b"y")
            heard = await reader.read()
            assert heard.count(b"HTTP/1.1 200 ") == 1
            assert b"\r\nconnection: close\r\n" in heard
            writer.close()
            await asyncio.sleep(0)

    run(main())
