"""Bytes bent by chance: cut, doubled, swapped, flipped, split into writes."""

from __future__ import annotations

import random

__all__ = ["bent", "pieces"]

SPICE = (
    b"\r", b"\n", b"\r\n", b"\r\n\r\n", b"\0", b" ", b"\t", b":", b";", b",", b"0", b"0\r\n\r\n",
    b"-1", b"ffffffffffffffff", b"\xff", b"\xc3\x28", b"HTTP/1.1", b"GET / HTTP/1.1\r\n",
    b"Content-Length: 0\r\n", b"Transfer-Encoding: chunked\r\n", b"Connection: close\r\n",
    b"Host: other\r\n", b"%00", b"{", b"[", b'"', b"data: ", b"data: [DONE]\n\n",
)  # fmt: skip


def bent(data: bytes, chance: random.Random) -> bytes:
    """The bytes with a few faults at places of chance, most often none or one."""
    for _ in range(chance.choice((0, 0, 1, 1, 1, 2, 3, 8))):
        at = chance.randint(0, len(data))
        to = min(len(data), at + chance.choice((0, 1, 2, 7, 40)))
        match chance.randrange(5):
            case 0:
                data = data[:at] + data[to:]
            case 1:
                data = data[:to] + data[at:to] + data[to:]
            case 2:
                data = data[:at] + chance.choice(SPICE) + data[to:]
            case 3:
                data = data[:at] + chance.randbytes(to - at) + data[to:]
            case _:
                data = data[:at] if chance.random() < 0.3 else data[:at] + data[at:].swapcase()
    return data


def pieces(data: bytes, chance: random.Random) -> list[bytes | float]:
    """The bytes as writes, with pauses in seconds between some of them."""
    cuts = sorted(chance.randint(0, len(data)) for _ in range(chance.choice((0, 0, 0, 1, 2, 5))))
    out: list[bytes | float] = []
    for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
        if end > start:
            if out and chance.random() < 0.5:
                out.append(chance.choice((0.001, 0.3, 2.0)))
            out.append(data[start:end])
    return out
