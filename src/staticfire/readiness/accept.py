"""The accept rules: what a reply, or its absence, says about an engine.

| reply                        | answered | proven        | strict        |
|------------------------------|----------|---------------|---------------|
| 200 with choices             | serving  | serving       | serving       |
| 200, error object or HTML    | serving  | misconfigured | misconfigured |
| 200 from another model       | serving  | misconfigured | misconfigured |
| 400, 413, 422                | serving  | serving       | misconfigured |
| 401, 403, 404, 405, 3xx      | serving  | misconfigured | misconfigured |
| 408, 425, 429                | serving  | busy          | busy          |
| 503                          | busy     | busy          | busy          |
| other 5xx                    | broken   | broken        | broken        |

A failure does not depend on the rule: `listing` when a deadline passed on a listed model, else
`unreachable` before the connect, `broken` after it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from types import MappingProxyType
from typing import Any

from staticfire import wire
from staticfire.clock import ns
from staticfire.errors import WrongInput, did_you_mean
from staticfire.readiness.listing import same_model
from staticfire.readiness.verdict import Verdict

__all__ = ["RULES", "Asked", "Failure", "Judgement", "judge", "judge_failure", "retry_after"]

BUSY = frozenset((408, 425, 429, 503))
"""Come back later: keeps a latch and never makes one."""

ON_ITS_MERITS = frozenset((400, 413, 422))
"""The request was understood and refused, so that the path is up."""

UNSERVABLE: Mapping[int, str] = MappingProxyType(
    {
        401: "the key is refused",
        402: "payment is required",
        403: "the key is refused",
        404: "there is no such route or model",
        405: "the route takes no POST",
        407: "a proxy wants to be logged in to",
        410: "the route is gone",
        451: "the route is blocked",
    }
)
"""A user's request would get the same refusal."""


@dataclass(frozen=True, slots=True)
class Failure:
    """No whole reply came. `reason` holds no URL."""

    reason: str
    connected: bool
    refused: bool = False
    hung: bool = False
    """The deadline passed, as against a cut, garbage or a refused connect."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a probe asked for: the model, its other names, the key that an answer must have."""

    model: str
    names: tuple[str, ...] = ()
    holds: str = "choices"
    """`choices` of a chat, `data` of embeddings."""
    word: str = "chat"
    """What was asked for, in reasons."""
    path: str = "/v1/chat/completions"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one reply says."""

    verdict: Verdict
    reason: str


Rule = Callable[[wire.Reply, Asked], Judgement]


def answered(reply: wire.Reply, asked: Asked) -> Judgement:
    """Any final status below 500: the request was understood, so the path is up."""
    if reply.status < 500:
        return Judgement(Verdict.SERVING, f"{asked.word} answered {reply.status}")
    return _server_error(reply, asked)


def proven(reply: wire.Reply, asked: Asked) -> Judgement:
    """As `answered`, less what shows that a user's request would not be served."""
    status = reply.status
    if status >= 500 and status not in BUSY:
        return _server_error(reply, asked)
    if status in BUSY:
        return _busy(reply, asked)
    if status < 300:
        return _completion(reply, asked)
    if status < 400:
        return Judgement(
            Verdict.MISCONFIGURED,
            f"{asked.word} answered {status}: a redirect, which is not followed; give the final address",
        )
    why = _not_found(reply, asked) if status == 404 else UNSERVABLE.get(status)
    if why is None:
        reason = f"{asked.word} answered {status}: refused on its merits"
        return Judgement(Verdict.SERVING, reason)
    reason = f"{asked.word} answered {status}: {why}{_said(reply)}"
    return Judgement(Verdict.MISCONFIGURED, reason)


def strict(reply: wire.Reply, asked: Asked) -> Judgement:
    """A 200 from the model asked for: the smoke test after a load."""
    verdict = proven(reply, asked)
    if verdict.verdict is not Verdict.SERVING:
        return verdict
    if reply.status != 200:
        return Judgement(
            Verdict.MISCONFIGURED,
            f"{asked.word} answered {reply.status}: the wrong model came up, or it refuses{_said(reply)}",
        )
    page = _json(reply.body)
    if not isinstance(page, dict) or not isinstance(page.get("model"), str):
        return Judgement(Verdict.MISCONFIGURED, "the answer does not say which model gave it")
    return verdict


RULES: Mapping[str, Rule] = MappingProxyType(
    {"answered": answered, "proven": proven, "strict": strict}
)
"""The rules by name."""


def judge(rule: str, reply: wire.Reply, asked: Asked) -> Judgement:
    """What `reply` says under the rule of that name. Raises WrongInput for an unknown rule."""
    found = RULES.get(rule)
    if found is None:
        raise WrongInput(
            "accept rule",
            expected=f"one of {', '.join(RULES)}",
            found=repr(rule),
            do=did_you_mean(rule, RULES),
        )
    return found(reply, asked)


def judge_failure(failure: Failure, *, listed: bool) -> Judgement:
    """What the absence of a whole reply says."""
    if not failure.connected:
        return Judgement(Verdict.UNREACHABLE, failure.reason)
    if failure.hung and listed:
        return Judgement(Verdict.LISTING, f"the model is listed; {failure.reason} from chat")
    return Judgement(Verdict.BROKEN, failure.reason)


def retry_after(reply: wire.Reply | wire.Head, wall: float) -> int | None:
    """How long the engine asks to be left alone, in nanoseconds; None when it does not say.

    Seconds or an HTTP date (RFC 9110, 10.2.3); `wall` is Unix time in seconds.
    """
    raw = reply.header(b"retry-after")
    if raw is None:
        return None
    text = raw.decode("latin-1").strip()
    try:
        if text.replace(".", "", 1).isdigit() and text.isascii():
            return ns(float(text)) if len(text) < 12 else None
        return max(0, ns(parsedate_to_datetime(text).timestamp() - wall))
    except (ValueError, OverflowError):
        return None


def _completion(reply: wire.Reply, asked: Asked) -> Judgement:
    page = _json(reply.body)
    if not isinstance(page, dict):
        html = reply.body.lstrip()[:1] == b"<"
        what = "a web page" if html else "no JSON object" if reply.body else "an empty body"
        return Judgement(
            Verdict.MISCONFIGURED,
            f"{asked.word} answered {reply.status} with {what}: not an OpenAI reply",
        )
    if page.get("error") is not None or page.get("object") == "error":
        return _error_object(page, reply, asked)
    held = page.get(asked.holds)
    if not isinstance(held, list) or not held:
        return Judgement(
            Verdict.MISCONFIGURED,
            f"{asked.word} answered {reply.status} without {asked.holds}: not an OpenAI reply",
        )
    model = page.get("model")
    names = (asked.model, *asked.names)
    if isinstance(model, str) and not any(same_model(name, model) for name in names):
        return Judgement(
            Verdict.MISCONFIGURED, f"another model answered: {_short(model)}, not {asked.model}"
        )
    return Judgement(Verdict.SERVING, f"{asked.word} answered {reply.status}")


def _not_found(reply: wire.Reply, asked: Asked) -> str:
    """Two different 404: no such model, told by an error object that speaks of one; no route."""
    page = _json(reply.body)
    error = page.get("error", page) if isinstance(page, dict) else None
    if isinstance(error, dict):
        told = " ".join(str(error.get(key, "")) for key in ("message", "param", "code")).lower()
        if "model" in told or asked.model.lower() in told:
            return f"another model is loaded, not {asked.model}"
    others = ", ".join(kind for kind in ("chat", "completion", "embeddings") if kind != asked.word)
    return f"there is no route {asked.path}; is the model of another kind ({others})?"


def _error_object(page: dict[str, Any], reply: wire.Reply, asked: Asked) -> Judgement:
    """An engine may say 200 on the wire and 503 in the body: the body is the truth."""
    inner = page["error"] if isinstance(page.get("error"), dict) else page
    code = inner.get("code")
    if code in BUSY or (isinstance(code, str) and code.isdigit() and int(code) in BUSY):
        reason = f"{asked.word} answered {reply.status} with error {code}: busy"
        return Judgement(Verdict.BUSY, reason)
    reason = f"{asked.word} answered {reply.status} with an error object{_said(reply)}"
    return Judgement(Verdict.MISCONFIGURED, reason)


def _busy(reply: wire.Reply, asked: Asked) -> Judgement:
    return Judgement(Verdict.BUSY, f"{asked.word} answered {reply.status}: busy{_said(reply)}")


def _server_error(reply: wire.Reply, asked: Asked) -> Judgement:
    if reply.status in BUSY:
        return _busy(reply, asked)
    return Judgement(Verdict.BROKEN, f"{asked.word} answered {reply.status}{_said(reply)}")


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _said(reply: wire.Reply) -> str:
    """The engine's own words, short, when it has some."""
    page = _json(reply.body)
    if not isinstance(page, dict):
        plain = reply.body[:400].decode("utf-8", "replace").strip()
        return f' ("{_short(plain)}")' if plain and plain[0] not in "<[{" else ""
    error = page.get("error", page)
    for words in (error, *(error.get(k) for k in ("message", "detail") if isinstance(error, dict))):
        if isinstance(words, str) and words.strip():
            return f' ("{_short(words)}")'
    return ""


def _short(text: str, limit: int = 120) -> str:
    line = " ".join(text[: 8 * limit].split())  # an engine's words may be a megabyte long
    if not line.isprintable():
        line = "".join(c if c.isprintable() else "?" for c in line)
    return line if len(line) <= limit else line[: limit - 1] + "…"
