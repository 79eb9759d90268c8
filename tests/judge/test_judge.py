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


def asked(*script, deadline=8.0, times=1, gap=0.0):
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
        answers = []
        for _ in range(times):
            answers.append(await judge.ask("GET", "/", deadline=deadline, on=kept))
            await asyncio.sleep(gap)
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


@pytest.mark.parametrize(
    "first", [b"SSH-2.0-OpenSSH_9\r\n", b'{"id":1}', b"\x15\x03\x01\x00\x02\x02\x46", b"HTPP/1.1"]
)
@pytest.mark.parametrize("then", ["close", "hold"])
def test_what_does_not_begin_as_an_http_answer_is_malformed_at_once(first, then):
    """No end is waited for, a close does not make a cut of it, and its bytes are kept."""
    answer = asked(first, then)
    assert (answer.end, answer.took, answer.status) == (End.MALFORMED, 0.0, None)
    assert first.startswith(answer.head)


def test_the_first_letters_of_an_answer_are_no_fault():
    """`HT` may still become an answer: that is a cut, not rubbish."""
    assert asked(b"HT", "close").end is End.CUT


def test_interim_answers_are_kept_apart():
    """Each 1xx is told, in order; alone they are no byte of an answer."""
    interim = b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
    answer = asked(interim + WHOLE, "hold")
    assert (answer.interim, answer.status, answer.head) == ((103, 100), 200, WHOLE[:-2])
    answer = asked(interim, "hold")
    assert (answer.interim, answer.end) == ((103, 100), End.SILENT)


def test_trailers_are_told():
    """Fields after the last chunk are no header fields."""
    answer = asked(CHUNKED[:-2] + b"X-Checksum: 7\r\n\r\n", "hold")
    assert (answer.trailers, answer.header("x-checksum")) == ((("X-Checksum", "7"),), None)


def test_a_second_answer_is_told_from_other_bytes():
    """What comes behind the end is noted as an answer when it begins like one."""
    assert asked(WHOLE + WHOLE, "hold").notes[0].endswith("the answer's end, another answer")
    assert asked(WHOLE + b"rest", "hold").notes == ("4 bytes after the answer's end",)


@pytest.mark.parametrize(
    ("encoding", "body", "noted"),
    [
        (b"gzip", b'{"plain":1}', True),
        (b"gzip", '{"plain":"é"}'.encode(), True),
        (b"gzip", b"\x1f\x8b\x08\x00rest", False),
        (b"br", b'{"plain":1}', True),
        (b"br", b"\x0b\x02\x80hi\x03", False),
        (b"identity", b'{"plain":1}', False),
        (b"gzip", b"", False),
    ],
)
def test_an_encoding_that_the_body_does_not_have_is_noted(encoding, body, noted):
    """Compressed bytes show that they are: a plain body under such a header has a note."""
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: %b\r\nContent-Length: %d\r\n\r\n"
    answer = asked(head % (encoding, len(body)) + body, "hold")
    assert bool([note for note in answer.notes if "RFC 9110, 8.4" in note]) is noted


def test_bytes_beyond_ascii_in_the_head_are_noted():
    """A Latin-1 value is read and told."""
    answer = asked(b"HTTP/1.1 200 OK\r\nX-Odd: caf\xe9\r\nContent-Length: 2\r\n\r\nok", "hold")
    assert (answer.header("x-odd"), answer.ok) == ("café", True)
    assert [note for note in answer.notes if "RFC 9110, 5.5" in note]


def test_a_kept_connection_that_was_closed_is_told():
    """Nothing is sent on a connection that the server has ended between two requests."""
    first, second = asked(WHOLE, "close", times=2, gap=1.0)
    assert first.end is End.WHOLE
    assert (second.end, second.took) == (End.CLOSED, 0.0)
    assert "closed before this request" in second.detail


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_events_are_read_in_every_form_of_the_standard(end):
    """Any line end, no space, several data lines, other fields, a BOM, comments (WHATWG 9.2)."""
    lines = [b"\xef\xbb\xbfdata:one", b"", b"event: x", b"id: 2", b"data: t", b"data: wo", b""]
    lines += [b":", b"", b"database: no", b"data: three", b"", b""]
    answer = sse(end.join(lines))
    assert answer.events == ("one", "t\nwo", "three")
    assert answer.comments == 1


def test_a_body_that_is_no_utf_8_is_told():
    """One byte is enough."""
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
    assert asked(head + "é".encode(), "hold").utf8
    assert not asked(head + b"o\xff", "hold").utf8
