"""`answers`: a status of the script's choice instead of the honest answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from staticfire.engine.actions import LENGTH, Action, Finish, Head, Headers, Send, without
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import fault
from staticfire.errors import WrongInput

__all__ = ["Answers"]


@fault("answers")
@dataclass(frozen=True, slots=True)
class Answers:
    """Answers with `status`, in the engine's own error dialect unless `body` is given.

    `retry_after` is seconds, or text that goes into the header as it stands (an HTTP date);
    `headers` are added in their order. A 200 without a body keeps the honest answer.
    """

    status: int
    retry_after: float | str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    body: str | None = None

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "answers {what} with {status:d}": {},
        "answers {what} with {status:d} and retry-after {retry_after:duration}": {},
        'answers {what} with {status:d} and body "{body}"': {},
    }

    def __post_init__(self) -> None:
        if not 100 <= self.status <= 999:
            raise WrongInput(
                "answers: status",
                expected="a status of three digits",
                found=repr(self.status),
                do="503, for example",
            )
        pairs = self.headers.items() if isinstance(self.headers, Mapping) else self.headers
        frozen = tuple((str(name), str(value)) for name, value in pairs)
        object.__setattr__(self, "headers", frozen)

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        if self.status == 200 and self.body is None:
            for action in honest:
                if isinstance(action, Head):
                    yield action._replace(headers=action.headers + self._extra())
                else:
                    yield action
            return
        headers, body = ask.complain(self.status, None)
        if self.body is not None:
            body = self.body.encode()
            headers = _with_length(headers, body, self.body)
        if self._extra():
            own = {name.lower() for name, _ in self._extra()}
            headers = without(headers, *own) + self._extra()
        if self.status in (204, 304) or self.status < 200:  # these have no body (RFC 9110)
            headers, body = without(headers, b"content-length", b"content-type"), b""
        yield Head(self.status, headers, LENGTH)
        if body:
            yield Send(body)
        yield Finish()

    def _extra(self) -> Headers:
        extra = tuple((name.encode(), value.encode()) for name, value in self.headers)
        if self.retry_after is None:
            return extra
        after = self.retry_after
        text = after if isinstance(after, str) else f"{after:g}"
        return ((b"retry-after", text.encode()), *extra)


def _with_length(headers: Headers, body: bytes, text: str) -> Headers:
    kind = b"application/json" if text.lstrip()[:1] in ("{", "[") else b"text/plain"
    kept = without(headers, b"content-length", b"content-type")
    return (
        *kept[:2],
        (b"content-length", str(len(body)).encode()),
        (b"content-type", kind),
        *kept[2:],
    )
