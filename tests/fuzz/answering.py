"""What a worker may answer: honest bytes by a grammar that is wrong on purpose now and then."""

from __future__ import annotations

import random

from fuzz.bending import bent

__all__ = ["END", "play"]

END = ("close", "reset", "stay")
"""How an answer's connection goes on after its bytes."""

LINES = (
    *(b"HTTP/1.1 200 OK",) * 12, b"HTTP/1.1 503 Service Unavailable", b"HTTP/1.1 429 X",
    b"HTTP/1.1 500 X", b"HTTP/1.1 400 X", b"HTTP/1.1 204 X", b"HTTP/1.1 304 X", b"HTTP/1.1 302 X",
    b"HTTP/1.1 101 X", b"HTTP/1.1 100 Continue", b"HTTP/1.1 103 X", b"HTTP/1.1 099 X", b"HTTP/1.1 1000 X",
    b"HTTP/1.1 999 X", b"HTTP/1.1 banana OK", b"HTTP/1.1 200", b"HTTP/1.0 200 OK", b"HTTP/2.0 200 OK",
    b"HTTP/9.9 200 OK", b"SSH-2.0-OpenSSH", b"", b"200 OK",
)  # fmt: skip
EXTRA = (
    b"Connection: close", b"Connection: keep-alive", b"Connection: X-Foo", b"X-Foo: 1",
    b"Retry-After: 1", b"Retry-After: never", b"Retry-After: -5", b"Retry-After: 99999999999999999999",
    b"Content-Length: 5", b"Content-Length: -1", b"Content-Length: 5, 7", b"Content-Length: banana",
    b"Transfer-Encoding: chunked", b"Transfer-Encoding: gzip", b"Transfer-Encoding: chunked, chunked",
    b"Content-Encoding: gzip", b"Location: http://127.0.0.1:1/", b"no colon here", b" folded: yes",
    b"Space : before", b"Nul: a\0b", b"Latin: \xe9", b"Long: " + b"x" * 70_000, b"Upgrade: h2c",
    b"Set-Cookie: a=1", b"X-Staticfire-Error: forged", b"Trailer: X", b"Date: now",
)  # fmt: skip
TYPES = (b"application/json", b"application/json", b"text/event-stream", b"text/html", b"\xff")
EVENTS = (
    *(b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n',) * 6, b"data: [DONE]\n\n", b": ping\n\n",
    b'data: {"error":{"message":"m","code":503}}\n\n', b"event: error\ndata: x\n\n", b"data: {no\n\n",
    b"data:\r\rdata: a\r\n\r\n", b"id: 1\nretry: 5\n\n", b"data: " + b"y" * 5000 + b"\n\n",
    b"error: {}\n\n", b"\xef\xbb\xbfdata: z\n\n", b"data: \xff\n\n",
)  # fmt: skip


def play(chance: random.Random) -> tuple[bytes, str]:
    """The bytes of one answer, and how the connection goes on after them."""
    head, body = [chance.choice(LINES)], _body(chance)
    head.append(b"Content-Type: " + chance.choice(TYPES))
    framing = chance.random()
    if framing < 0.35:
        head.append(b"Content-Length: %d" % len(body))
    elif framing < 0.70:
        head.append(b"Transfer-Encoding: chunked")
        body = _chunked(body, chance)
    elif framing < 0.85:
        head.append(b"Content-Length: %d" % max(0, len(body) + chance.choice((-4, -1, 1, 600))))
    if chance.random() < 0.4:
        head.append(chance.choice(EXTRA))
    if chance.random() < 0.1:
        head += [b"X-%d: v" % number for number in range(300)]
    end = b"\n" if chance.random() < 0.03 else b"\r\n"
    answer = end.join(head) + end + end + body
    if chance.random() < 0.1:
        answer = b"HTTP/1.1 100 Continue\r\n\r\n" + answer
    if chance.random() < 0.1:
        answer += b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nglue"
    return bent(answer, chance), chance.choice(END)


def _body(chance: random.Random) -> bytes:
    match chance.randrange(4):
        case 0:
            return b'{"choices":[{"message":{"content":"ok"}}],"model":"qwen"}'
        case 1:
            return b'{"error":{"message":"m","code":%d}}' % chance.choice((400, 429, 500, 503))
        case 2:
            return b""
        case _:
            return b"".join(chance.choice(EVENTS) for _ in range(chance.randint(1, 12)))


def _chunked(body: bytes, chance: random.Random) -> bytes:
    half = chance.randint(0, len(body))
    out = b"".join(b"%x\r\n%b\r\n" % (len(p), p) for p in (body[:half], body[half:]) if p)
    bad = (b"", b"0\r\n", b"zz\r\n", b"-5\r\n", b"fffffffffffffffff\r\n", b"0\r\nX-T: 1\r\n\r\n")
    return out + (b"0\r\n\r\n" if chance.random() < 0.7 else chance.choice(bad))
