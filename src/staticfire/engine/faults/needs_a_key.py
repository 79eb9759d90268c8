"""`needs a key`: no answer without the right bearer token."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.engine.actions import Action, Finish, Head, Send
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault

__all__ = ["NeedsAKey"]


@fault("needs a key")
@dataclass(frozen=True, slots=True)
class NeedsAKey:
    """Answers 401 in the engine's dialect unless the request's bearer token is `key`.

    Engines differ in what they leave open: llama.cpp keeps /health and /v1/models free (captured),
    others lock those too (public cases B085, B112). A rule for each path says which.
    """

    key: str = "secret"

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "needs a key for {what}": {},
        'needs the key "{key}" for {what}': {},
    }

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        if ask.headers.get("authorization") == f"Bearer {self.key}":
            yield from honest
            return
        headers, body = ask.complain(401, "Invalid API Key")
        yield Head(401, (*headers, (b"www-authenticate", b"Bearer")))
        if body:
            yield Send(body)
        yield Finish()
