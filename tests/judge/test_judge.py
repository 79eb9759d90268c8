"""The judge says what really arrived, and how it ended."""

from __future__ import annotations

import asyncio
import socket
import struct

import pytest

from staticfire.clock.virtual import run
from staticfire.judge import End, Judge

WHOLE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"


def reset(writer):
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def asked(*script, deadline=8.0, times=1):
    """Ask a server that plays `script` (bytes, seconds to wait, 'close', 'reset', 'hold')."""

    async def serve(reader, writer):
        for _ in range(times):
            await reader.readuntil(b"\r\n\r\n")
            for act in script:
                if isinstance(act, bytes):
                    writer.write(act)
                elif act == "close":
                    writer.close()
                elif act == "reset":
                    await asyncio.sleep(0)
                    reset(writer)
                elif act == "hold":
                    await reader.read()
                    writer.close()
                else:
                    await asyncio.sleep(act)
        await reader.read()
        writer.close()

    async def main():
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        judge = Judge(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        kept = judge.connection()
        answers = [await judge.ask("GET", "/", deadline=deadline, on=kept) for _ in range(times)]
        kept.close()
        server.close()
        await asyncio.sleep(deadline)
        return answers if times > 1 else answers[0]

    return run(main())


@pytest.mark.parametrize(
    ("script", "end"),
    [
        ((WHOLE, "hold"), End.WHOLE),
        ((CHUNKED, "hold"), End.WHOLE),
        ((b"HTTP/1.1 200 OK\r\n\r\nok", "close"), End.WHOLE),
        ((WHOLE[:-1], "close"), End.CUT),
        ((CHUNKED[:-5], "close"), End.CUT),
        ((WHOLE[:20], "close"), End.CUT),
        (("close",), End.CLOSED),
        (("reset",), End.RESET),
        ((WHOLE[:-1], 1.0, "reset"), End.RESET),
        (("hold",), End.SILENT),
        ((WHOLE[:20], "hold"), End.UNFINISHED),
        ((CHUNKED[:-5], "hold"), End.UNFINISHED),
        ((b"SSH-2.0-OpenSSH_9\r\n\r\n", "hold"), End.MALFORMED),
    ],
)
def test_each_end_has_its_name(script, end):
    """An answer's end is what the wire did, whatever its status said."""
    assert asked(*script).end is end


def test_nobody_listens_is_refused():
    """A refused connect is an answer too: the judge never raises."""

    async def main():
        with socket.socket() as sock:
            sock.bind(("127.0.0.1", 0))
            return await Judge(f"http://127.0.0.1:{sock.getsockname()[1]}").ask("GET", "/")

    assert run(main()).end is End.REFUSED


def test_a_held_open_socket_is_not_waited_for():
    """A whole answer ends at its last byte, not at the close."""
    answer = asked(3.0, WHOLE, "hold")
    assert (answer.took, answer.closed, answer.body) == (3.0, False, b"ok")


def test_the_deadline_is_exact():
    """The judge leaves at its deadline, and keeps what had come."""
    answer = asked(WHOLE[:-1], "hold", deadline=8.0)
    assert (answer.took, answer.body, answer.status) == (8.0, b"o", 200)


def test_pieces_keep_the_times_of_a_dribble():
    """Each piece of the body is kept with its arrival."""
    answer = asked(WHOLE[:-2], 1.0, b"o", 1.0, b"k", "hold")
    assert [(at / 1e9, n) for at, n in answer.pieces] == [(1.0, 1), (2.0, 1)]


def test_a_connection_can_be_kept():
    """Two requests, one connection."""
    first, second = asked(WHOLE, times=2)
    assert first.end is second.end is End.WHOLE


def test_the_raw_head_is_kept():
    """The head as bytes, so that a framing fault can be shown."""
    assert asked(WHOLE, "hold").head == WHOLE[:-2]


@pytest.mark.parametrize(
    ("head", "rule"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n", "6.2"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n", "6.3"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\n", "6.3"),
        (b"HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length: 2\r\n\r\n", "5.2"),
        (b"HTTP/1.1 200 OK\nContent-Length: 2\n\n", "2.2"),
        (b"HTTP/9.9 200 OK\r\nContent-Length: 2\r\n\r\n", "2.3"),
    ],
)
def test_what_h11_lets_pass_is_noted(head, rule):
    """Where h11 reads a head that RFC 9112 forbids, the answer carries a note with the section."""
    body = b"2\r\nok\r\n0\r\n\r\n" if b"chunked" in head else b"ok"
    answer = asked(head + body, "close")
    assert [note for note in answer.notes if f"RFC 9112, {rule}" in note]


def test_an_honest_head_has_no_note():
    """No note without a cause."""
    assert asked(WHOLE, "hold").notes == ()


def test_bytes_after_the_end_are_noted():
    """A second answer glued on is told, not swallowed."""
    assert "bytes after the answer's end" in asked(WHOLE + WHOLE, "hold").notes[0]


def test_an_informational_answer_is_not_the_answer():
    """100 Continue comes before the answer and is not it (RFC 9110, 15.2)."""
    answer = asked(b"HTTP/1.1 100 Continue\r\n\r\n" + WHOLE, "hold")
    assert (answer.status, answer.head) == (200, WHOLE[:-2])


def sse(body):
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    return asked(head + body, "close")


def test_a_stream_is_read_as_events():
    """Words, the end mark and the error of a stream are read from its events."""
    answer = sse(
        b'data: {"choices":[{"delta":{"content":"he"}}]}\n\n: ping\n\n'
        b'data: {"choices":[{"delta":{"content":"llo"}}]}\r\n\r\ndata: [DONE]\n\n'
    )
    assert (answer.text, answer.done, answer.error, answer.ok) == ("hello", True, None, True)


@pytest.mark.parametrize(
    "event",
    [b'{"error":{"message":"no","code":503}}', b'{"object":"error","message":"no","code":503}'],
)
def test_an_error_event_is_an_error(event):
    """A 200 whose event carries an error object is not ok, in vLLM's or SGLang's shape."""
    answer = sse(b"data: " + event + b"\n\ndata: [DONE]\n\n")
    assert (answer.error["code"], answer.ok) == (503, False)


def test_an_unfinished_event_is_no_event():
    """An event counts once its blank line has come."""
    assert sse(b"data: one\n\ndata: tw").events == ("one",)
