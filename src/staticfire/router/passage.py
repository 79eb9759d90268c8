"""One client request on its way through the router."""

from __future__ import annotations

from staticfire import wire

__all__ = ["Passage"]


class Passage:
    """What belongs to one request from its arrival to its end; log and metrics are told from it.

    The client's request itself is never altered, so that every attempt starts from it as it came.
    """

    __slots__ = (
        "admitted", "arrived", "attempts", "credentials", "first_at", "headers", "id", "model", "request",
        "route", "stream", "why", "worker",
    )  # fmt: skip

    def __init__(
        self,
        request: wire.Request,
        route: bytes,
        arrived: int,
        ident: bytes,
        headers: list[wire.Header],
        credentials: list[wire.Header],
    ) -> None:
        self.request = request
        self.route = route
        self.arrived = arrived
        """Nanoseconds."""
        self.admitted = arrived
        """When it had its slot."""
        self.id = ident
        """What it is called in the logs of all who handle it."""
        self.headers = headers
        """What may pass to a worker, the client's credentials apart."""
        self.credentials = credentials
        """The client's credentials, for a worker that has no key of its own."""
        self.model = ""
        """The model as the registry names it; empty until a worker was chosen."""
        self.worker = ""
        """The id of the last worker that was asked."""
        self.why = ""
        """The policy's word for that choice."""
        self.attempts = 0
        self.stream = False
        self.first_at: int | None = None
        """When the first bytes of the answer's body came, in nanoseconds."""
