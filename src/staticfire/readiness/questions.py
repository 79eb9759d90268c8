"""Questions to one engine, each answered with evidence."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

from staticfire import wire
from staticfire.clock import current
from staticfire.errors import WrongInput, nearest
from staticfire.readiness import accept, listing
from staticfire.readiness.evidence import Evidence
from staticfire.readiness.exchange import Deadline, Line, ask
from staticfire.readiness.keys import redacted, secrets_of
from staticfire.readiness.settings import Settings
from staticfire.readiness.verdict import Source, Verdict

__all__ = ["Engine", "Found", "ask_chat", "ask_health", "ask_models"]


@dataclass(frozen=True, slots=True)
class Engine:
    """Where to ask, with which headers (a key, say, which no reason and no repr shows)."""

    address: wire.Address
    headers: tuple[wire.Header, ...] = field(default=(), repr=False)
    settings: Settings = field(default_factory=Settings)

    def __post_init__(self) -> None:
        for name, value in self.headers:
            if any(c in b"\r\n\0" for c in name + value):
                shown = name.split(b"\r")[0].split(b"\n")[0].decode("latin-1")
                raise WrongInput(f"header {shown}", expected="one line", found="a line end in it")

    def told(self, evidence: Evidence) -> Evidence:
        """The evidence with no key in its reason: engines echo the one that they refuse."""
        if not self.headers:
            return evidence
        return replace(evidence, reason=redacted(evidence.reason, secrets_of(self.headers)))


@dataclass(frozen=True, slots=True)
class Found:
    """A listing's evidence with the entry that a probe is to be about."""

    evidence: Evidence
    entry: listing.Listed | None = None


async def ask_models(
    engine: Engine,
    model: str | None,
    *,
    deadline: int,
    generation: int = 1,
    prefer: str | None = None,
    line: Line | None = None,
) -> Found:
    """Ask for the model list. `deadline` is an instant in nanoseconds.

    Without a `model` any will do: `prefer` when it is listed, else the first.
    """
    found = await _ask_models(engine, model, deadline, generation, prefer, line)
    return Found(engine.told(found.evidence), found.entry)


async def _ask_models(
    engine: Engine,
    model: str | None,
    deadline: int,
    generation: int,
    prefer: str | None,
    line: Line | None,
) -> Found:
    began = current().now()
    reply = await ask(
        engine.address,
        "GET",
        "/v1/models",
        deadline=deadline,
        headers=engine.headers,
        limit=engine.settings.body_limit,
        line=line,
    )
    now = current().now()

    def evidence(
        verdict: Verdict, reason: str, status: int | None = None, *,
        models: tuple[str, ...] = (), named: bool | None = None, about: str | None = model,
    ) -> Evidence:  # fmt: skip
        return Evidence(
            verdict, now, generation, reason, source=Source.LISTING, began=began, model=about,
            status=status, models=models, named=named,
        )  # fmt: skip

    if isinstance(reply, accept.Failure):
        judged = accept.judge_failure(reply, listed=False)
        reason = f"{judged.reason} from /v1/models" if reply.hung else judged.reason
        told = evidence(judged.verdict, reason)
        return Found(replace(told, refused=reply.refused, hung=reply.hung))
    if reply.status in accept.BUSY:
        busy = evidence(Verdict.BUSY, f"/v1/models answered {reply.status}: busy", reply.status)
        return Found(replace(busy, retry_after=accept.retry_after(reply, current().wall())))
    if reply.status != 200:
        verdict = Verdict.BROKEN if reply.status >= 500 else Verdict.MISCONFIGURED
        why = accept.UNSERVABLE.get(reply.status)
        text = f"/v1/models answered {reply.status}" + (f": {why}" if why else "")
        return Found(evidence(verdict, text, reply.status))
    models = listing.parse(reply.body)
    if models is None:
        return Found(evidence(Verdict.MISCONFIGURED, "/v1/models is no OpenAI model list", 200))
    if not models:
        return Found(evidence(Verdict.BROKEN, "no model is listed yet", 200, named=False))
    wanted = model if model is not None else prefer
    entry = listing.find(models, wanted) if wanted is not None else None
    if entry is None and model is None:
        entry = models[0]
    ids = tuple(m.id for m in models)
    if entry is None:
        assert model is not None
        near = nearest(model, ids)
        reason = f"{model} is not listed; listed: {', '.join(ids)}"
        reason += f'; did you mean "{near}"?' if near else ""
        return Found(evidence(Verdict.MISCONFIGURED, reason, 200, models=ids, named=False))
    name = model if model is not None else entry.id
    reason = f"{name} is listed, its chat is not proven"
    found = evidence(Verdict.LISTING, reason, 200, models=ids, named=True, about=name)
    return Found(found, entry)


@dataclass(frozen=True, slots=True)
class Route:
    """Where a kind of model is asked, with what, and what its answer holds."""

    word: str
    path: str
    body: dict[str, object]
    holds: str


ROUTES = {
    "chat": Route(
        "chat",
        "/v1/chat/completions",
        {"messages": [{"role": "user", "content": "Say ready."}], "max_tokens": 2, "stream": False},
        "choices",
    ),
    "completion": Route(
        "completion",
        "/v1/completions",
        {"prompt": "Say ready.", "max_tokens": 2, "stream": False},
        "choices",
    ),
    "embeddings": Route("embeddings", "/v1/embeddings", {"input": "ready?"}, "data"),
}


def route_of(settings: Settings, entry: listing.Listed | None) -> Route:
    """The route by the setting, else by what the list says of the model, else chat."""
    kind = settings.kind
    if kind == "auto":
        kind = entry.kind if entry is not None else "chat"
    return ROUTES[kind]


async def ask_chat(
    engine: Engine,
    model: str,
    *,
    deadline: int | Deadline,
    entry: listing.Listed | None = None,
    generation: int = 1,
    line: Line | None = None,
) -> Evidence:
    """Send one request on the route of the model's kind: chat, completion or embeddings.

    `entry` is the model as listed, None when it was not. `deadline` is in nanoseconds.
    """
    settings = engine.settings
    route = route_of(settings, entry)
    began = current().now()
    reply = await ask(
        engine.address,
        "POST",
        route.path,
        deadline=deadline,
        headers=((b"content-type", b"application/json"), *engine.headers),
        body=json.dumps({"model": model} | route.body).encode(),
        limit=settings.body_limit,
        line=line,
    )
    now = current().now()
    models = () if entry is None else (entry.id,)
    named = None if entry is None else True
    if isinstance(reply, accept.Failure):
        judged = accept.judge_failure(reply, listed=entry is not None)
        reason = judged.reason.replace("chat", route.word)
        return Evidence(
            judged.verdict, now, generation, reason, models=models, began=began, model=model,
            named=named, refused=reply.refused, hung=reply.hung,
        )  # fmt: skip
    names = () if entry is None else (entry.id, *entry.aliases)
    asked = accept.Asked(model, names, route.holds, route.word, route.path)
    judged = accept.judge(settings.accept, reply, asked)
    pause = accept.retry_after(reply, current().wall()) if judged.verdict is Verdict.BUSY else None
    told = Evidence(
        judged.verdict, now, generation, judged.reason, models=models, began=began, model=model,
        named=named, status=reply.status, retry_after=pause,
    )  # fmt: skip
    return engine.told(told)


async def ask_health(engine: Engine, *, deadline: int, generation: int = 1) -> Evidence:
    """Ask `/health`: any 2xx is healthy, told as `serving`. `deadline` is in nanoseconds."""
    address = engine.address
    if address.base.endswith("/v1"):
        address = replace(address, base=address.base.removesuffix("/v1"))
    began = current().now()
    reply = await ask(
        address, "GET", "/health", deadline=deadline, headers=engine.headers,
        limit=engine.settings.body_limit,
    )  # fmt: skip
    told = Evidence(Verdict.BROKEN, current().now(), generation, source=Source.HEALTH, began=began)
    if isinstance(reply, accept.Failure):
        judged = accept.judge_failure(reply, listed=False)
        reason = f"{judged.reason} from /health" if reply.hung else judged.reason
        return replace(
            told, verdict=judged.verdict, reason=reason, refused=reply.refused, hung=reply.hung
        )
    if reply.status in accept.BUSY:
        verdict = Verdict.BUSY
    elif reply.status < 300:
        verdict = Verdict.SERVING
    else:
        verdict = Verdict.BROKEN if reply.status >= 500 else Verdict.MISCONFIGURED
    reason = f"/health answered {reply.status}"
    return replace(told, verdict=verdict, reason=reason, status=reply.status)
