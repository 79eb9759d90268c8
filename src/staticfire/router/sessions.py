"""Which session a request belongs to.

Headers first, in the order of the setting, then the body. A request id is never a session: a
proxy that stamps one on every request would scatter the session over all workers.
"""

from __future__ import annotations

from collections.abc import Sequence

from staticfire import wire
from staticfire.errors import WrongInput

__all__ = ["FIELDS", "header_names", "of_body", "of_headers"]

FIELDS = (
    "session_params.session_id",
    "session_id",
    "conversation",
    "prompt_cache_key",
    "safety_identifier",
    "user",
)
"""Fields of a body that name a session, the first one that says something."""

_NEVER = frozenset(
    (b"x-request-id", b"x-correlation-id", b"x-trace-id", b"traceparent", b"tracestate")
)


def header_names(setting: str) -> tuple[bytes, ...]:
    """The headers that a setting names, with commas between them. Raises WrongInput."""
    names = tuple(name.strip().lower().encode() for name in setting.split(",") if name.strip())
    for name in names:
        if name in _NEVER:
            raise WrongInput(
                "--session-header",
                expected="a header that is the same in all requests of a session",
                found=name.decode(),
                do="request and trace ids change with every request; name another header",
            )
    return names


def of_headers(headers: Sequence[wire.Header], names: tuple[bytes, ...]) -> str | None:
    """What the first of the names says that is there."""
    found: dict[bytes, bytes] = {}
    for name, value in headers:
        lower = name.lower()
        if value and lower in names:
            found.setdefault(lower, value)
    for name in names:
        if name in found:
            return found[name].decode("latin-1")
    return None


def of_body(
    session_params: object, session_id: object, conversation: object, *others: object
) -> str | None:
    """The session that the fields name, in the order of `FIELDS`."""
    if isinstance(session_params, dict):
        session_params = session_params.get("session_id")
    if isinstance(conversation, dict):
        conversation = conversation.get("id")
    for value in (session_params, session_id, conversation, *others):
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            return str(value)
    return None
