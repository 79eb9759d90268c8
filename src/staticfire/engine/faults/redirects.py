"""`redirects`: the request is sent on to another address."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.engine.actions import Action, Finish, Head
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault
from staticfire.errors import WrongInput

__all__ = ["Redirects"]


@fault("redirects")
@dataclass(frozen=True, slots=True)
class Redirects:
    """Answers `status` with a Location of `to` and no body (public case B140).

    A path gets the scheme and the host that the client sent before it, as a FastAPI server does for
    a missing slash: with a router in between that is the engine's own address (B139).
    """

    to: str
    status: int = 307

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        'redirects {what} to "{to}"': {},
        **{
            f'redirects {{what}} to "{{to}}" with {status}': {"status": status}
            for status in (301, 302, 303, 307, 308)
        },
    }

    def __post_init__(self) -> None:
        if not 300 <= self.status < 400:
            raise WrongInput(
                "redirects: status", expected="a status of 300 to 399", found=str(self.status)
            )
        if not self.to or not self.to.isprintable():
            raise WrongInput(
                "redirects: to",
                expected="an address or a path",
                found=repr(self.to),
                do="http://other.test/v1, for example",
            )

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        del honest
        here = f"http://{ask.headers.get('host', '')}" if self.to.startswith("/") else ""
        location = f"{here}{self.to}".encode()
        yield Head(self.status, ((b"location", location), (b"content-length", b"0")))
        yield Finish()
