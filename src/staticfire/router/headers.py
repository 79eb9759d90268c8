"""Which headers pass the router, and which are its own.

To a worker goes what engines have a use for, and nothing else: a list of names that are let
through, which a setting extends. A request gets an id if it has none. The client's credentials
pass only where neither the router nor the worker has keys of its own: a worker's key replaces
them, never stands beside them.

To the client goes everything but what belongs to one connection (RFC 9110 7.6.1), what leads past
the router (a Location elsewhere, Alt-Svc, any value with the worker's address in it), and what only
the router may say.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable
from itertools import count
from typing import Literal

from staticfire import wire
from staticfire.router.passage import Passage
from staticfire.router.worker import Worker
from staticfire.wire.head import hop_by_hop

__all__ = ["ALLOWED", "CREDENTIALS", "Headers"]

ALLOWED = frozenset(
    (
        "accept",
        "accept-encoding",
        "accept-language",
        "anthropic-beta",
        "anthropic-version",
        "baggage",
        "content-type",
        "idempotency-key",
        "openai-beta",
        "openai-organization",
        "openai-project",
        "traceparent",
        "tracestate",
        "user-agent",
        "x-correlation-id",
        "x-session-id",
        "x-user-id",
    )
)
"""What reaches engines without being asked for."""

CREDENTIALS = frozenset((b"authorization", b"x-api-key", b"api-key"))

_NEVER = frozenset(
    (
        b"content-length",
        b"cookie",
        b"expect",
        b"forwarded",
        b"host",
        b"via",
        b"x-data-parallel-rank",
        b"x-forwarded-for",
        b"x-real-ip",
    )
)
"""What no setting lets through: ours, or about the client and nobody's business."""

_OURS_BACK = frozenset((b"alt-svc", b"content-length", b"x-request-id"))
_ID = re.compile(rb"[\x21-\x7e]{1,128}")
_VIA = (b"via", b"1.1 staticfire")
_NAMES_NOTHING = frozenset((b"keep-alive", b"Keep-Alive", b"close"))
_CACHE = 2048  # names as they are spelled; clients could make them up without end

Verdict = Literal["pass", "drop", "id", "credential", "connection", "location"]


class Headers:
    """The rules for one router. Names are judged once for each spelling."""

    def __init__(
        self,
        *,
        forward: Iterable[str] = (),
        session: str = "x-session-id",
        id_names: Iterable[str] = ("x-request-id",),
        keep_credentials: bool = True,
    ) -> None:
        names = {name.lower().encode() for name in (*ALLOWED, *forward, session)}
        self._prefixes = tuple(name[:-1] for name in names if name.endswith(b"*"))
        self._names = names
        self._ids = tuple(name.lower().encode() for name in id_names)
        self._keep_credentials = keep_credentials
        self._asked: dict[bytes, Verdict] = {}
        self._answered: dict[bytes, Verdict] = {}
        self._base = secrets.token_hex(8).encode()
        self._number = count()

    def passage(self, request: wire.Request, route: bytes, now: int) -> Passage:
        """A request that came in, with what of its head may pass."""
        passing: list[wire.Header] = [_VIA]
        credentials: list[wire.Header] = []
        ids: dict[bytes, bytes] = {}
        named = False
        asked = self._asked
        for header in request.headers:
            name = header[0]
            verdict = asked.get(name)
            if verdict is None:
                verdict = self._keep(asked, name, self._judge_request(name.lower()))
            if verdict == "pass":
                passing.append(header)
            elif verdict == "id":
                ids.setdefault(name.lower(), header[1])
            elif verdict == "credential":
                if self._keep_credentials:
                    credentials.append(header)
            elif verdict == "connection" and header[1] not in _NAMES_NOTHING:
                named = True
        if named:
            stays = hop_by_hop(request.headers)
            passing = [header for header in passing if header[0].lower() not in stays]
            credentials = [header for header in credentials if header[0].lower() not in stays]
        ident = self._ident(ids)
        passing.append((b"x-request-id", ident))
        return Passage(request, route, now, ident, passing, credentials)

    def to_worker(self, passage: Passage, worker: Worker) -> list[wire.Header]:
        """The headers of a request as one worker gets them."""
        key = worker.key
        if key is not None:
            return [*passage.headers, (b"authorization", b"Bearer " + key.encode())]
        return [*passage.headers, *passage.credentials]

    def to_client(self, head: wire.Head, passage: Passage, worker: Worker) -> list[wire.Header]:
        """The headers of a worker's answer as the client gets them, with what we say of it."""
        address = worker.authority
        answered = self._answered
        passing: list[wire.Header] = []
        named = False
        for header in head.headers:
            name, value = header
            verdict = answered.get(name)
            if verdict is None:
                verdict = self._keep(answered, name, _judge_answer(name.lower()))
            if verdict == "pass":
                if address not in value:
                    passing.append(header)
            elif verdict == "connection" and header[1] not in _NAMES_NOTHING:
                named = True
            elif verdict == "location":
                here = _here(value, worker)
                if here is not None:
                    passing.append((name, here))
        if named:
            stays = hop_by_hop(head.headers)
            passing = [header for header in passing if header[0].lower() not in stays]
        passing += (
            (b"x-request-id", passage.id),
            (b"x-staticfire-worker", worker.id.encode()),
            (b"x-staticfire-attempts", b"%d" % passage.attempts),
            (b"x-staticfire-choice", passage.why.encode()),
        )
        return passing

    def _ident(self, ids: dict[bytes, bytes]) -> bytes:
        """The client's own id if it is one, else a new one, of one length always."""
        for name in self._ids:
            value = ids.get(name)
            if value is not None and _ID.fullmatch(value):
                return value
        return b"%b%08x" % (self._base, next(self._number))

    def _keep(self, cache: dict[bytes, Verdict], name: bytes, verdict: Verdict) -> Verdict:
        if len(cache) < _CACHE:
            cache[name] = verdict
        return verdict

    def _judge_request(self, name: bytes) -> Verdict:
        if name == b"connection":
            return "connection"
        if name in self._ids or name == b"x-request-id":
            return "id"
        if name in CREDENTIALS:
            return "credential"
        if name in _NEVER or name in hop_by_hop(()):
            return "drop"
        return "pass" if name in self._names or name.startswith(self._prefixes) else "drop"


def _judge_answer(name: bytes) -> Verdict:
    if name == b"connection":
        return "connection"
    if name in (b"location", b"content-location"):
        return "location"
    if name in _OURS_BACK or name.startswith(b"x-staticfire-") or name in hop_by_hop(()):
        return "drop"
    return "pass"


def _here(location: bytes, worker: Worker) -> bytes | None:
    """A location as a path of ours; None where it leads elsewhere (`//host` does too).

    An engine builds it from the address that it was asked by (RFC 9110 10.2.2), which is its own.
    """
    for scheme in (b"http://", b"https://"):
        if location.startswith(scheme + worker.authority):
            location = location[len(scheme + worker.authority) :] or b"/"
    base = worker.address.base.encode()
    if base and location.startswith(base + b"/"):
        location = location[len(base) :]
    return location if location[:1] == b"/" and location[1:2] not in (b"/", b"\\") else None
