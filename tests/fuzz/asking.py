"""What a client may send: requests by a grammar that is wrong on purpose now and then."""

from __future__ import annotations

import json
import random

from fuzz.bending import bent

__all__ = ["conversation"]

PATHS = (
    b"/v1/chat/completions", b"/v1/chat/completions", b"/v1/chat/completions", b"/v1/completions",
    b"/v1/embeddings", b"/v1/models", b"/health", b"/readiness", b"/metrics", b"/workers",
    b"/workers/w00", b"/", b"*", b"http://r/v1/models", b"/v1/chat/completions?x=1", b"/\xff",
    b"/v1/chat/completions/../models", b"//v1/models", b"/" + b"a" * 9000,
)  # fmt: skip
METHODS = (
    *(b"POST",) * 8, b"GET", b"GET", b"HEAD", b"PUT", b"DELETE", b"PATCH", b"OPTIONS", b"TRACE",
    b"CONNECT", b"PRI", b"post", b"G E T", b"",
)  # fmt: skip
VERSIONS = (
    *(b"HTTP/1.1",) * 12,
    b"HTTP/1.0",
    b"HTTP/2.0",
    b"HTTP/9.9",
    b"HTTP/1",
    b"",
    b"http/1.1",
)
EXTRA = (
    b"Connection: close", b"Connection: keep-alive, X-Foo", b"Connection: upgrade", b"X-Foo: bar",
    b"Upgrade: h2c", b"Expect: 100-continue", b"Expect: 200-maybe", b"Host: second", b"Host:",
    b"Content-Length: 5", b"Content-Length: 5, 5", b"Content-Length: -1", b"Content-Length: 1e3",
    b"Content-Length: 99999999999999999999", b"Transfer-Encoding: chunked",
    b"Transfer-Encoding: gzip, chunked", b"Transfer-Encoding: identity", b"Transfer-Encoding : chunked",
    b"Transfer-Encoding:\x0bchunked", b"TE: trailers", b"Trailer: X", b"X-Session-Id: \xe9",
    b"X-Long: " + b"x" * 70_000, b"no colon here", b" folded: yes", b"Nul: a\0b", b": empty",
    b"Authorization: Bearer k", b"X-Request-Id: " + b"r" * 300, b"traceparent: 00-x",
)  # fmt: skip
BODIES = (
    b"", b"null", b"[]", b'"x"', b"7", b"{", b"{}", b'{"model":7}', b'{"model":null}', b"\xff\xfe",
    b'{"model":"qwen","model":"other"}', b'{"model":"nobody"}', b'{"model":"\xff"}', b"[" * 3000,
    b'{"model":"qwen","stream":"yes"}', b'{"model":"qwen","messages":' + b"[" * 600 + b"]" * 600 + b"}",
    b'{"model":"qwen","seed":123456789012345678901234567890}', b"NaN", b"\xef\xbb\xbf{}",
)  # fmt: skip


def conversation(chance: random.Random) -> bytes:
    """The bytes of one connection: one request or a few, one after the other."""
    asked = b"".join(_request(chance) for _ in range(chance.choice((1, 1, 1, 2, 4))))
    return bent(asked, chance)


def _request(chance: random.Random) -> bytes:
    method, path, version = (chance.choice(every) for every in (METHODS, PATHS, VERSIONS))
    lines = [b" ".join((method, path, version))]
    if chance.random() < 0.95:
        lines.append(b"Host: r")
    body = _body(chance) if method in (b"POST", b"PUT", b"PATCH") or chance.random() < 0.05 else b""
    framing = chance.random()
    if framing < 0.70:
        if body:
            lines.append(b"Content-Length: %d" % len(body))
    elif framing < 0.90:
        lines.append(b"Transfer-Encoding: chunked")
        body = _chunked(body, chance)
    elif framing < 0.96:
        lines.append(b"Content-Length: %d" % max(0, len(body) + chance.choice((-3, -1, 1, 9))))
    if chance.random() < 0.3:
        lines[1:1] = [chance.choice(EXTRA)]
    if chance.random() < 0.2:
        lines.append(chance.choice(EXTRA))
    end = b"\n" if chance.random() < 0.03 else b"\r\n"
    return end.join(lines) + end + end + body


def _body(chance: random.Random) -> bytes:
    if chance.random() < 0.3:
        return chance.choice(BODIES)
    asked = {"model": "qwen", "messages": [{"role": "user", "content": "hi"}]}
    if chance.random() < 0.5:
        asked["stream"] = True
    if chance.random() < 0.1:
        asked["pad"] = "x" * 300_000
    return json.dumps(asked).encode()


def _chunked(body: bytes, chance: random.Random) -> bytes:
    half = chance.randint(0, len(body))
    out = b""
    for part in (body[:half], body[half:]):
        if part:
            lie = chance.choice((0,) * 18 + (1, -1))
            extension = chance.choice((b"",) * 9 + (b";a=b", b";" + b"x" * 3000))
            out += b"%x%b\r\n%b\r\n" % (max(0, len(part) + lie), extension, part)
    last = chance.choice(
        (b"0\r\n\r\n",) * 9 + (b"0\r\nX-T: 1\r\n\r\n", b"", b"0\r\n", b"00\r\n\r\n")
    )
    return out + last
