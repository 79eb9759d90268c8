"""Whether a caller may ask what it asks.

    what                                    who
    health, liveness, readiness, metrics    everybody
    inference, the model list, GET workers  everybody; with --api-key who has one, or an admin key
    whatever changes the fleet              with --admin-api-key who has it; else who asks from this
                                            machine, directly

"Directly": a proxy or a browser on this machine lends its loopback address to others. What carries
the marks of one (forwarding headers, an Origin, a foreign Host) does not count as from here.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Collection, Container, Iterable
from hashlib import sha256

from staticfire import wire
from staticfire.router.errors import Failure

__all__ = ["OPEN", "ROUTES", "Access", "Keys", "path_of"]

ROUTES = frozenset(
    (
        b"/v1/chat/completions",
        b"/v1/completions",
        b"/v1/embeddings",
        b"/v1/responses",
        b"/v1/messages",
        b"/v1/rerank",
        b"/v1/score",
        b"/v1/classify",
        b"/rerank",
        b"/score",
        b"/classify",
        b"/pooling",
        b"/tokenize",
        b"/detokenize",
    )
)
"""What is forwarded: POST, with a JSON body that names its model."""

OPEN = frozenset((b"/health", b"/liveness", b"/readiness", b"/metrics"))
"""What needs no key: balancers and scrapers have none."""

_LENT = frozenset(
    (
        b"forwarded",
        b"origin",
        b"sec-fetch-site",
        b"via",
        b"x-forwarded-for",
        b"x-forwarded-host",
        b"x-real-ip",
    )
)
"""The marks of a proxy or a browser that asks for somebody else."""


class Keys:
    """Keys that are compared in constant time: neither their lengths nor their bytes show."""

    def __init__(self, keys: Iterable[str]) -> None:
        self._digests = tuple(sha256(key.encode()).digest() for key in keys)

    def __bool__(self) -> bool:
        return bool(self._digests)

    def hold(self, key: bytes | None) -> bool:
        """Whether this is one of them. All are compared, whichever it is."""
        digest = sha256(key or b"").digest()
        found = False
        for mine in self._digests:
            found |= hmac.compare_digest(mine, digest)
        return found and key is not None


def path_of(request: wire.Request) -> bytes:
    """The target without its query."""
    return request.target.partition(b"?")[0]


class Access:
    """The table above, for one router."""

    def __init__(self, clients: Collection[str] = (), admins: Collection[str] = ()) -> None:
        self._clients = Keys((*clients, *admins) if clients else ())
        self._admins = Keys(admins)

    def refused(self, path: bytes, request: wire.Request, own: Container[bytes]) -> Failure | None:
        """What is wrong with a request that changes nothing here; `own` are our own paths."""
        method = request.method
        if path in ROUTES:
            if method != b"POST":
                return _not_allowed(b"POST")
        elif path not in own:
            shown = path.decode("latin-1")[:200]
            return Failure(404, "not_found", f"nothing is served at {shown}")
        elif method not in (b"GET", b"HEAD"):
            return _not_allowed(b"GET, HEAD")
        if self._clients and path not in OPEN and not self._clients.hold(_key_of(request)):
            return _unauthorized(request)
        return None

    def not_admin(self, request: wire.Request, peer: str) -> Failure | None:
        """Why a caller may not change the fleet, or None; `peer` is the address it comes from."""
        if self._admins:
            return None if self._admins.hold(_key_of(request)) else _unauthorized(request)
        if _from_here(request, peer):
            return None
        return Failure(
            403, "admin_off", "without --admin-api-key the fleet is changed from this machine only"
        )


def _key_of(request: wire.Request) -> bytes | None:
    """The key that a request brings: as OpenAI's clients send it, or as Anthropic's do."""
    found = request.header(b"authorization")
    if found is not None:
        scheme, _, key = found.partition(b" ")
        return key.strip() if scheme.lower() == b"bearer" else None
    return request.header(b"x-api-key")


def _from_here(request: wire.Request, peer: str) -> bool:
    if not _loopback(peer) or any(name.lower() in _LENT for name, _ in request.headers):
        return False
    host = (request.header(b"host") or b"").decode("latin-1")
    name = host[: host.rfind("]") + 1] if host.startswith("[") else host.partition(":")[0]
    return name.lower() == "localhost" or _loopback(name.strip("[]"))


def _loopback(text: str) -> bool:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def _not_allowed(methods: bytes) -> Failure:
    message = f"the method here is {methods.decode()}"
    return Failure(405, "method_not_allowed", message, more=((b"allow", methods),))


def _unauthorized(request: wire.Request) -> Failure:
    message = "a key is needed" if _key_of(request) is None else "this key is not known"
    return Failure(
        401, "invalid_api_key", message, more=((b"www-authenticate", b'Bearer realm="staticfire"'),)
    )
