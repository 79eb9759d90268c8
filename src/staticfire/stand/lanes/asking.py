"""What an engine can do, asked of itself: nothing that could be asked is assumed.

| asked                              | it has it        | it has it not                 | anything else |
|------------------------------------|------------------|-------------------------------|---------------|
| `GET /v1/models`                   | lists the model  | 404, 405, 501 and a named model | fails         |
| a chat request                     | proven, `strict` | 404, 405, 501 for a listed model | fails       |
| the same, streaming                | events of it     | another kind of answer, a 4xx, 501 | fails      |
| a chat request without messages    | 4xx              | any other status              | fails         |
| `GET /metrics`                     | its load in it   | no load in it, a 4xx, 501     | fails         |
| `GET /is_sleeping`                 | a boolean        | a 4xx, 501                    | fails         |

"Fails" means what it is: an engine that hangs, breaks off or says 500 is no engine to stand a run on,
and a run that skipped everything for it would look well. Whether an engine refuses when it is full is
not asked: that would fill it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from staticfire import wire
from staticfire.clock import current, ns
from staticfire.errors import StaticFireError
from staticfire.readiness.account import read_metrics
from staticfire.readiness.exchange import ask
from staticfire.readiness.keys import redacted, secrets_of
from staticfire.readiness.questions import Engine, Found, ask_chat, ask_models
from staticfire.readiness.settings import Settings
from staticfire.readiness.verdict import Verdict

__all__ = ["Able", "BrokenProbe", "able"]

ABSENT = frozenset((404, 405, 501))
"""Statuses of a route that is not there."""

CHAT = "/v1/chat/completions"


class BrokenProbe(StaticFireError):
    """A question that an engine neither answered nor refused in order."""

    def __init__(self, url: str, route: str, expected: str, found: str) -> None:
        super().__init__(f"{url}: {route}: expected {expected}, found {found}")


@dataclass(frozen=True, slots=True)
class Able:
    """What an engine can do, and the model that was asked about it."""

    model: str
    capabilities: frozenset[str]


async def able(
    url: str, model: str = "", *, headers: tuple[wire.Header, ...] = (), patience: float = 30.0
) -> Able:
    """Ask an engine what it can do; without a `model`, of the first one that it lists.

    Each answer may take `patience` seconds. Raises `BrokenProbe`, and `WrongInput` for a URL that is
    none.
    """
    engine = Engine(
        wire.parse_url(url, where="engine"), headers, Settings(accept="strict", kind="chat")
    )
    asked = _Asked(engine, patience)
    found, listed = await asked.listing(model)
    name = found.evidence.model if listed else model
    assert name
    has = {"listing"} if listed else set()
    if await asked.chat(found, name):
        has.add("chat")
        if await asked.stream(name):
            has.add("stream")
        if await asked.refuses(name):
            has.add("refusals")
    if await asked.metrics():
        has.add("metrics")
    if await asked.sleeps():
        has.add("sleep")
    return Able(name, frozenset(has))


@dataclass(frozen=True, slots=True)
class _Asked:
    engine: Engine
    patience: float

    async def listing(self, model: str) -> tuple[Found, bool]:
        found = await ask_models(self.engine, model or None, deadline=self._until())
        told = found.evidence
        if told.verdict is Verdict.LISTING:
            return found, True
        if model and told.status in ABSENT:
            return found, False
        what = f"a list with {model}" if model else "a list of models"
        raise self._broken("/v1/models", what, told.reason)

    async def chat(self, found: Found, model: str) -> bool:
        told = await ask_chat(self.engine, model, deadline=self._until(), entry=found.entry)
        if told.verdict is Verdict.SERVING:
            return True
        if found.entry is not None and told.status in ABSENT:
            return False
        raise self._broken(CHAT, "an answer of the model", told.reason)

    async def stream(self, model: str) -> bool:
        body = {
            "model": model,
            "messages": [{"role": "user", "content": "Say ready."}],
            "max_tokens": 2,
            "stream": True,
        }
        reply = await self._ask("POST", CHAT, json.dumps(body).encode())
        route = f"{CHAT} (streaming)"
        if not isinstance(reply, wire.Reply):
            raise self._broken(route, "a whole stream", reply)
        if 400 <= reply.status < 500 or reply.status == 501:
            return False
        if reply.status != 200:
            raise self._broken(route, "a stream", f"status {reply.status}")
        kind = (reply.header(b"content-type") or b"").lower()
        if not kind.startswith(b"text/event-stream"):
            return False
        if not any(page.get("choices") for page in _events(reply.body)):
            raise self._broken(route, "events with choices", "a stream without any")
        return True

    async def refuses(self, model: str) -> bool:
        """Whether it calls a client's mistake one; some say 500, which looks like their own."""
        reply = await self._ask("POST", CHAT, json.dumps({"model": model}).encode())
        if not isinstance(reply, wire.Reply):
            raise self._broken(f"{CHAT} (without messages)", "any answer", reply)
        return 400 <= reply.status < 500

    async def metrics(self) -> bool:
        reply = await self._page("/metrics")
        return reply is not None and read_metrics(reply.body.decode("utf-8", "replace")).said

    async def sleeps(self) -> bool:
        reply = await self._page("/is_sleeping")
        if reply is None:
            return False
        try:
            page = json.loads(reply.body)
        except ValueError:
            return False
        return isinstance(page, dict) and isinstance(page.get("is_sleeping"), bool)

    async def _page(self, route: str) -> wire.Reply | None:
        """The page of a route that need not be there."""
        reply = await self._ask("GET", route)
        if not isinstance(reply, wire.Reply):
            raise self._broken(route, "a page, or a word that there is none", reply)
        if reply.status == 200:
            return reply
        if 400 <= reply.status < 500 or reply.status == 501:
            return None
        raise self._broken(route, "a page, or a word that there is none", f"status {reply.status}")

    async def _ask(self, method: str, route: str, body: bytes = b"") -> wire.Reply | str:
        """The reply, or why there is none."""
        address, own = self.engine.address, self.engine.headers
        if not route.startswith("/v1/"):
            address = wire.parse_url(address.url.removesuffix("/v1"))
        headers = ((b"content-type", b"application/json"), *own) if body else own
        reply = await ask(
            address, method, route, deadline=self._until(), headers=headers, body=body,
            limit=self.engine.settings.body_limit,
        )  # fmt: skip
        return reply if isinstance(reply, wire.Reply) else reply.reason

    def _until(self) -> int:
        return current().now() + ns(self.patience)

    def _broken(self, route: str, expected: str, found: str) -> BrokenProbe:
        shown = redacted(found, secrets_of(self.engine.headers))
        return BrokenProbe(self.engine.address.url, route, expected, shown)


def _events(body: bytes) -> Iterator[dict[str, object]]:
    """The JSON objects of a stream's events."""
    for line in body.splitlines():
        if line.startswith(b"data:"):
            try:
                page = json.loads(line[5:])
            except ValueError:
                continue
            if isinstance(page, dict):
                yield page
