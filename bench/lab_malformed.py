"""The peer lab's table q: what a client gets where the worker's answer is no good HTTP."""

from __future__ import annotations

from collections.abc import Callable

from bench.lab_stand import Lab
from staticfire.judge import Answer, End

__all__ = ["MALFORMED", "comes_to"]

NOBODYS = b"nobody asked for"


def plain(answer: Answer) -> str:
    """`whole` is a 200 that ended as its framing said."""
    if answer.end is not End.WHOLE:
        return "cut" if answer.status else "no answer"
    return "whole" if answer.status == 200 else str(answer.status)


def interim(answer: Answer) -> str:
    """Of an answer after a 1xx."""
    return f"{plain(answer)}, the 1xx {'forwarded' if answer.interim else 'swallowed'}"


def redirect(answer: Answer) -> str:
    """Of a 307 to a place where nobody is: a router that goes there has no 307 to tell."""
    return f"{plain(answer)} with{'' if answer.header('location') else 'out'} its address"


def twice(answer: Answer) -> str:
    """Of two answers in one breath."""
    return f"{plain(answer)}, {'both' if NOBODYS in answer.body else 'the first'}"


Tells = Callable[[Answer], str]
MALFORMED: tuple[tuple[str, tuple[str, ...], Tells], ...] = (
    (
        "a status line that is none, a status of 099, 999 or 1000",
        (
            'begins chat with the line "HTTP/1.1 banana OK"',
            'begins chat with the line "HTTP/1.1 099 Odd"',
            "answers chat with 999",
            'begins chat with the line "HTTP/1.1 1000 Odd"',
        ),
        plain,
    ),
    (
        "a bare body, an SSH banner, TLS",
        ("answers chat without a head", "answers chat in SSH", "answers chat in TLS"),
        plain,
    ),
    ("no reason phrase", ('begins chat with the line "HTTP/1.1 200"',), plain),
    ("`HTTP/2.0 200 OK` in plain text", ('begins chat with the line "HTTP/2.0 200 OK"',), plain),
    (
        "a close with no byte, or in the head",
        ("closes chat without answering", "truncates chat after 20 bytes of the wire"),
        plain,
    ),
    (
        "a chunk size that is no number, negative, or huge",
        (
            "sends a chunk size that is no number in chat",
            "sends a negative chunk size in chat",
            "sends a huge chunk size in chat",
        ),
        plain,
    ),
    ("a chunk smaller than its size", ("sends a chunk smaller than its size in chat",), plain),
    ("a length larger than the body", ("states too long a length for chat",), plain),
    ("a length smaller than the body", ("states too short a length for chat",), plain),
    (
        "a negative length, two lengths",
        ("states a negative length for chat", "states two lengths for chat"),
        plain,
    ),
    ("a length beside chunks", ("states a length beside chunks for chat",), plain),
    ("a header without a colon", ("sends a header without a colon in chat",), plain),
    ("a space before the colon", ("sends a header with a space before its colon in chat",), plain),
    ("a NUL in a value", ("sends a header with a NUL in chat",), plain),
    ("a folded header", ("sends a header folded in chat",), plain),
    ("a Latin-1 value", ("sends a header in Latin-1 in chat",), plain),
    ("a bare LF at a line's end", ("sends a header with a bare LF in chat",), plain),
    (
        "a header of 64 KiB, of 1 MB",
        ("sends a header of 65536 bytes in chat", "sends a header of 1000000 bytes in chat"),
        plain,
    ),
    ("200 headers", ("sends 200 more headers in chat",), plain),
    ("`Content-Encoding: gzip` on plain bytes", ("claims gzip for chat",), plain),
    (
        "100 or 103 first",
        ("sends an interim 100 before chat", "sends an interim 103 before chat"),
        interim,
    ),
    ("only a 100, then silence", ("sends only an interim 100 for chat",), interim),
    ("101", ("switches protocols in chat",), plain),
    (
        "204, 304 with a body",
        ("sends a body with a 204 for chat", "sends a body with a 304 for chat"),
        plain,
    ),
    ("a redirect", ('redirects chat to "http://127.0.0.1:9/"',), redirect),
    (
        "HTML, half its JSON, bad UTF-8",
        (
            "answers chat with HTML",
            "answers chat with half its JSON",
            "answers chat with bad UTF-8",
        ),
        plain,
    ),
    ("no body at all", ("answers chat with nothing",), plain),
    ("a second answer glued on", ("answers chat twice",), twice),
    ("trailers", ("ends chat with trailers",), plain),
)


async def comes_to(phrases: tuple[str, ...], tell: Tells) -> str:
    """What each phrase comes to for a JSON answer and for a stream; one word where all are alike."""
    words: list[str] = []
    for phrase in phrases:
        json_, stream = [await one(phrase, tell, stream=stream) for stream in (False, True)]
        word = json_ if json_ == stream else f"JSON {json_}, stream {stream}"
        if word not in words:
            words.append(word)
    return "; ".join(words)


async def one(phrase: str, tell: Tells, *, stream: bool) -> str:
    """What one request comes to, and whether it spoils the next."""
    async with Lab() as lab:
        lab.does(f"{phrase} for 1 request")
        word = tell(await lab.ask(stream=stream, deadline=3600))
        after = await lab.ask()
        fine = after.ok and NOBODYS not in after.body
        return word if fine else f"{word}, **the next request fails**"
