"""A client that takes too long to say what it wants."""

from __future__ import annotations

import asyncio

import pytest

from staticfire import wire
from staticfire.clock.virtual import run

HEAD = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\n\r\n"
SMALL = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nabc"


def asked(pieces, handler=None, **limits):
    """Send (pause before it, bytes) rows; what was said, and when the connection ended."""

    async def echo(request, answer):
        await asyncio.sleep(1)
        answer.send(200, (), b"%d" % len(request.body))

    async def main():
        loop = asyncio.get_running_loop()
        refuse = lambda refusal: ((), str(refusal.status).encode())  # noqa: E731 - one line
        listener = wire.Listener(handler or echo, refuse, wire.Limits(**limits))
        await listener.start("127.0.0.1", 0)
        reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
        began = loop.time()

        async def send():
            for pause, data in pieces:
                await asyncio.sleep(pause)
                writer.write(data)

        sending = asyncio.ensure_future(send())
        heard = await reader.read()
        took = loop.time() - began
        sending.cancel()
        writer.close()
        await asyncio.sleep(0)
        await listener.stop()
        return heard, took

    return run(main())


def test_slow_head():
    """A head that is not there after its time is a 408, however steadily it dribbles."""
    heard, took = asked([(1, b"GET / HTTP/1.1\r\nx: "), *[(1, b"y")] * 60], head_time=20)
    assert heard.startswith(b"HTTP/1.1 408 ")
    assert heard.endswith(b"408")
    assert took == 21, "the time counts from the first byte, which came after a second"


def test_slow_body():
    """A body has its time and a second more for each 500 bytes: steady dribbling does not hold."""
    heard, took = asked([(0, HEAD)] + [(1, b"x" * 50)] * 200, body_time=10, body_rate=500)
    assert heard.startswith(b"HTTP/1.1 408 ")
    assert 11 <= took <= 12


def test_a_long_upload_is_no_slow_one():
    """An upload at a fair rate may take far longer than the body's time."""
    pieces = [(0, HEAD), *[(1, b"x" * 1000)] * 100, (5, b"")]
    heard, took = asked(pieces, body_time=10, body_rate=500, idle=10)
    assert heard.startswith(b"HTTP/1.1 200 ")
    assert heard.endswith(b"100000")
    assert took > 100


@pytest.mark.parametrize("count", [1, 3])
def test_what_is_whole_is_not_slow(count):
    """Requests that are whole, pipelined ones too, are not timed, however long answers take."""

    async def slow(request, answer):
        await asyncio.sleep(300)
        answer.send(200, (), b"ok")

    heard, took = asked([(0, SMALL * count)], slow, head_time=2, body_time=2, idle=1000)
    assert heard.count(b"HTTP/1.1 200 ") == count
    assert took == 300 * count + 1000


def test_the_next_request_has_a_time_of_its_own():
    """A slow request behind a good one is timed from its own first byte."""
    heard, took = asked([(0, SMALL), (5, b"GET /x HT")], head_time=20)
    assert heard.count(b"HTTP/1.1 200 ") == 1
    assert heard.count(b"HTTP/1.1 408 ") == 1
    assert took == 25
