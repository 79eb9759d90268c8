"""What every real server was asked when its answers were captured."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

PATH = "/v1/chat/completions"


def chat(http: Any, model: str, /, *headers: str, **fields: Any) -> bytes:
    """The small chat request of the captures; a field that is None is left out."""
    body = {"model": model, "messages": http.MESSAGES, "max_tokens": 4, "temperature": 0, **fields}
    given = {key: value for key, value in body.items() if value is not None}
    return http.request(body=given, headers=headers)


def questions(http: Any, names: Iterable[str], model: str, *, words: int) -> dict[str, bytes]:
    """Name to request: each `GET` of `names`, and what all servers were asked besides.

    `words` is the length of the prompt that is too long. A server's own questions are added by its
    test.
    """

    def asked(**fields: Any) -> bytes:
        return chat(http, model, **fields)

    long = [{"role": "user", "content": "ready " * words}]
    completion = {"model": model, "prompt": "hi"}
    gets = {name: http.get(name.removeprefix("GET ")) for name in names if name[:5] == "GET /"}
    return gets | {
        "POST /health": http.request("POST", "/health", {}),
        "GET chat": http.get(PATH),
        "chat": asked(),
        "chat keep-alive (no Connection header), idle 6s": asked().replace(
            b"\r\nConnection: close", b""
        ),
        "chat stream": asked(stream=True),
        "chat stream include_usage": asked(
            stream=True, max_tokens=2, stream_options={"include_usage": True}
        ),
        "chat no max_tokens": asked(max_tokens=None),
        "chat max_tokens=1": asked(max_tokens=1),
        "chat max_tokens=0": asked(max_tokens=0),
        "chat max_completion_tokens=2": asked(max_tokens=None, max_completion_tokens=2),
        "chat max_tokens=-5": asked(max_tokens=-5),
        "chat max_tokens='x'": asked(max_tokens="x"),
        "chat n=2": asked(n=2, max_tokens=2),
        "chat unknown model": asked(model="no-such-model"),
        "chat no model": asked(model=None),
        "chat empty messages": asked(messages=[]),
        "chat no messages": http.request(body={"model": model}),
        "chat messages is a string": asked(messages="hi"),
        "chat temperature=9": asked(temperature=9),
        "chat invalid JSON": http.request(body=b'{"model": "x", "messages": ['),
        "chat empty body": http.request(body=b"", headers=("Content-Type: application/json",)),
        "chat wrong content type": http.request(
            body=b'{"model":"%s"}' % model.encode(), headers=("Content-Type: text/plain",)
        ),
        f"chat big prompt ({words} words)": asked(messages=long),
        "chat big prompt stream": asked(messages=long, stream=True),
        "completions": http.request("POST", "/v1/completions", completion | {"max_tokens": 3}),
        "completions stream": http.request(
            "POST", "/v1/completions", completion | {"max_tokens": 2, "stream": True}
        ),
        "embeddings": http.request("POST", "/v1/embeddings", {"model": model, "input": "hi"}),
        "tokenize": http.request("POST", "/tokenize", {"model": model, "prompt": "hi"}),
        "not HTTP": b"HELLO\r\n\r\n",
    }
