"""Questions to one engine, each answered with evidence."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from staticfire import wire
from staticfire.clock import current
from staticfire.errors import nearest
from staticfire.readiness import accept, listing
from staticfire.readiness.evidence import Evidence
from staticfire.readiness.exchange import ask
from staticfire.readiness.settings import Settings
from staticfire.readiness.verdict import Source, Verdict

__all__ = ["Engine", "Found", "ask_chat", "ask_health", "ask_models", "probe"]


@dataclass(frozen=True, slots=True)
class Engine:
    """Where to ask, with which headers (a key, say)."""

    address: wire.Address
    headers: tuple[wire.Header, ...] = ()
    settings: Settings = field(default_factory=Settings)


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
) -> Found:
    """Ask for the model list. `deadline` is an instant in nanoseconds.

    Without a `model` any will do: `prefer` when it is listed, else the first.
    """
    began = current().now()
    reply = await ask(
        engine.address,
        "GET",
        "/v1/models",
        deadline=deadline,
        headers=engine.headers,
        limit=engine.settings.body_limit,
    )
    now = current().now()

    def evidence(verdict: Verdict, reason: str, status: int | None = None) -> Evidence:
        return Evidence(
            verdict, now, generation, reason, source=Source.LISTING, began=began, model=model,
            status=status,
        )  # fmt: skip

    if isinstance(reply, accept.Failure):
        judged = accept.judge_failure(reply, listed=False)
        reason = f"{judged.reason} from /v1/models" if reply.hung else judged.reason
        return Found(replace(evidence(judged.verdict, reason), refused=reply.refused))
    if reply.status in accept.BUSY:
        busy = evidence(Verdict.BUSY, f"/v1/models answered {reply.status}: busy", reply.status)
        return Found(replace(busy, retry_after=accept.retry_after(reply, current().wall())))
    if reply.status != 200:
        verdict = Verdict.BROKEN if reply.status >= 500 else Verdict.MISCONFIGURED
        why = accept.UNSERVABLE.get(reply.status)
        told = f"/v1/models answered {reply.status}" + (f": {why}" if why else "")
        return Found(evidence(verdict, told, reply.status))
    models = listing.parse(reply.body)
    if models is None:
        return Found(evidence(Verdict.MISCONFIGURED, "/v1/models is no OpenAI model list", 200))
    if not models:
        return Found(replace(evidence(Verdict.BROKEN, "no model is listed yet", 200), named=False))
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
        judged_here = evidence(Verdict.MISCONFIGURED, reason, 200)
        return Found(replace(judged_here, models=ids, named=False))
    name = model if model is not None else entry.id
    found = evidence(Verdict.LISTING, f"{name} is listed, its chat is not proven", 200)
    return Found(replace(found, models=ids, named=True, model=name), entry)


async def ask_chat(
    engine: Engine,
    model: str,
    *,
    deadline: int,
    entry: listing.Listed | None = None,
    generation: int = 1,
) -> Evidence:
    """Send one chat request, or one embeddings request to a model that is labelled so.

    `entry` is the model as listed, None when it was not. `deadline` is in nanoseconds.
    """
    settings = engine.settings
    embeds = settings.kind == "embeddings" or (
        settings.kind == "auto" and entry is not None and entry.embeds
    )
    body: dict[str, object] = {"model": model}
    if embeds:
        body |= {"input": "ready?"}
    else:
        body |= {
            "messages": [{"role": "user", "content": "Say ready."}],
            "max_tokens": 2,
            "stream": False,
        }
    began = current().now()
    reply = await ask(
        engine.address,
        "POST",
        "/v1/embeddings" if embeds else "/v1/chat/completions",
        deadline=deadline,
        headers=((b"content-type", b"application/json"), *engine.headers),
        body=json.dumps(body).encode(),
        limit=settings.body_limit,
    )
    now = current().now()
    models = () if entry is None else (entry.id,)
    told = Evidence(
        Verdict.BROKEN, now, generation, models=models, began=began, model=model,
        named=None if entry is None else True,
    )  # fmt: skip
    if isinstance(reply, accept.Failure):
        judged = accept.judge_failure(reply, listed=entry is not None)
        return replace(told, verdict=judged.verdict, reason=judged.reason, refused=reply.refused)
    names = () if entry is None else (entry.id, *entry.aliases)
    asked = accept.Asked(model, names, "data" if embeds else "choices")
    judged = accept.judge(settings.accept, reply, asked)
    pause = accept.retry_after(reply, current().wall()) if judged.verdict is Verdict.BUSY else None
    reason = judged.reason.replace("chat", "embeddings", 1) if embeds else judged.reason
    return replace(
        told, verdict=judged.verdict, reason=reason, retry_after=pause, status=reply.status
    )


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
        return replace(told, verdict=judged.verdict, reason=reason, refused=reply.refused)
    if reply.status in accept.BUSY:
        verdict = Verdict.BUSY
    elif reply.status < 300:
        verdict = Verdict.SERVING
    else:
        verdict = Verdict.BROKEN if reply.status >= 500 else Verdict.MISCONFIGURED
    reason = f"/health answered {reply.status}"
    return replace(told, verdict=verdict, reason=reason, status=reply.status)


async def probe(
    url: str,
    model: str | None = None,
    *,
    deadline: float = 8.0,
    accept: str = "proven",
    kind: str = "auto",
    headers: Iterable[wire.Header] = (),
    settings: Settings | None = None,
) -> Evidence:
    """One readiness check of one engine, in full: its list, then one request to the model.

    `deadline` in seconds is over all of it; the list takes no more than its own 2 s of that.
    Without a `model` the first listed one is asked. Raises WrongInput for a URL that is none.
    A list that hangs or breaks does not decide when the model is known; its chat does.
    """
    base = settings if settings is not None else Settings()
    settings = replace(base, probe_deadline=deadline, accept=accept, kind=kind)
    engine = Engine(wire.parse_url(url), tuple(headers), settings)
    now = current().now()
    limits = settings.limits
    end = now + limits.probe_deadline
    found = await ask_models(engine, model, deadline=min(end, now + limits.listing_deadline))
    listed = found.evidence
    asked = listed.model
    unlisted = listed.named is False and accept == "answered"
    hidden = listed.named is None and listed.verdict is Verdict.BROKEN
    if asked is None or not (found.entry is not None or unlisted or hidden):
        return listed
    if current().now() >= end:
        return listed
    chat = await ask_chat(engine, asked, deadline=end, entry=found.entry)
    return replace(chat, models=listed.models, began=listed.began)
