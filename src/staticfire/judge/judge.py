"""The client that steps use: it asks one server and remembers every answer."""

from __future__ import annotations

import json
from typing import Any

from staticfire.judge.answer import Answer
from staticfire.judge.connection import Connection, Headers

__all__ = ["PROMPT", "Judge", "chat_body"]

PROMPT = "Say hello to the judge."
"""What the judge asks, so that an engine's journal can tell its requests from a router's probes."""

DEADLINE = 60.0
"""Seconds that the judge waits for an answer's end when the step names none."""


def chat_body(
    model: str | None, *, stream: bool = False, max_tokens: int = 8, **more: Any
) -> bytes:
    """The JSON of a small chat request; `model` None leaves the field out."""
    body: dict[str, Any] = {} if model is None else {"model": model}
    body |= {"messages": [{"role": "user", "content": more.pop("prompt", PROMPT)}]}
    body |= {"max_tokens": max_tokens} | ({"stream": True} if stream else {}) | more
    return json.dumps(body).encode()


class Judge:
    """Asks the server at `url`; every answer is kept in `answers`, in the order of their ends.

    Each chat request says who it is in `X-Request-Id`; `sent` has those ids in their order, so that
    engines' journals can be asked what became of each.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.answers: list[Answer] = []
        self.sent: list[str] = []
        self.session_headers: tuple[str, ...] = ("X-Session-Id",)
        self.headers: tuple[tuple[str, str], ...] = ()
        """Those of every request that does not bring one of the same name: a key, say."""

    async def ask(
        self,
        method: str,
        target: str,
        *,
        headers: Headers = (),
        body: bytes = b"",
        deadline: float = DEADLINE,
        on: Connection | None = None,
    ) -> Answer:
        """One request, on a connection of its own unless `on` names one that is kept open."""
        connection = on or self.connection()
        if self.headers:
            own = {name.lower() for name, _ in headers}
            headers = [*headers, *(one for one in self.headers if one[0].lower() not in own)]
        try:
            answer = await connection.ask(method, target, headers, body, deadline=deadline)
        finally:
            if on is None:
                connection.close()
        self.answers.append(answer)
        return answer

    async def chat(
        self,
        model: str | None,
        *,
        session: str | None = None,
        deadline: float = DEADLINE,
        on: Connection | None = None,
        **body: Any,
    ) -> Answer:
        """One chat request; `session` goes into headers, the rest into the body.

        Routers drop headers, so the session stands in the request's id too.
        """
        own = f"judge-{len(self.sent) + 1}"
        self.sent.append(own if session is None else f"{own}@{session}")
        headers = [("Content-Type", "application/json"), ("X-Request-Id", self.sent[-1])]
        if session is not None:
            headers += [(name, session) for name in self.session_headers]
        return await self.ask(
            "POST",
            "/v1/chat/completions",
            headers=headers,
            body=chat_body(model, **body),
            deadline=deadline,
            on=on,
        )

    def connection(self) -> Connection:
        """A connection that outlives one request."""
        return Connection(self.url)
