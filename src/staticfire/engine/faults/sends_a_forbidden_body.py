"""`sends a forbidden body`: a body with a status that has none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.engine.actions import Action, Finish, Head, Send
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault
from staticfire.errors import WrongInput

__all__ = ["SendsAForbiddenBody"]


@fault("sends a forbidden body")
@dataclass(frozen=True, slots=True)
class SendsAForbiddenBody:
    """Answers `status` 204 or 304 with a Content-Length and the body that it states.

    Such an answer ends with its head (RFC 9112, 6.3): what follows is taken for the next answer on
    this connection, or for rubbish.
    """

    status: int = 204

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        f"sends a body with a {status} for {{what}}": {"status": status} for status in (204, 304)
    }

    def __post_init__(self) -> None:
        if self.status not in (204, 304):
            raise WrongInput(
                "sends a forbidden body: status",
                expected="204 or 304",
                found=str(self.status),
                do="with another status a body is allowed: use `answers`",
            )

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        del honest
        headers, body = ask.complain(200, "a body where none may be")
        yield Head(self.status, headers)
        yield Send(body)
        yield Finish()
