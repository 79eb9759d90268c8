"""Lives and rules as Gherkin says them.

    life("refuses for 12 seconds, then loads for 352 seconds and never answers chat, then serves")
    rule("answers chat with 503 for 3 requests")

A life is phases joined by `, then`; a phase is its verb, how long it lasts, and what it does
differently, joined by `and`. A rule is the phrase of a fault (`faults()[name].phrases`), or several
joined by `and` which play one after the other, and how long it holds. Endpoints: chat, completions, embeddings, inference, health, models (or the listing),
everything, or a method and path in double quotes.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

import parse  # type: ignore[import-untyped]  # it publishes no types

from staticfire.engine.ask import INFERENCE
from staticfire.engine.durations import PATTERN, duration
from staticfire.engine.faults import Combines, Fault, faults
from staticfire.engine.phases import (
    Accepting,
    Busy,
    Dead,
    Draining,
    Loading,
    Phase,
    Refuses,
    Serving,
    Sleeping,
)
from staticfire.engine.script import Rule
from staticfire.errors import WrongInput, nearest

__all__ = ["VERBS", "fault_phrases", "life", "rule"]

VERBS: dict[str, type[Phase]] = {
    "refuses": Refuses,
    "refuses connects": Refuses,
    "accepts and never answers": Accepting,
    "accepts connects": Accepting,
    "is loading": Loading,
    "loads": Loading,
    "serves": Serving,
    "is busy": Busy,
    "sleeps": Sleeping,
    "drains": Draining,
    "dies": Dead,
    "is dead": Dead,
}
WHAT = r'chat|completions|embeddings|inference|health|models|the listing|everything|"[A-Z*]+ [^"]+"'
_AND = re.compile(r"(?:^| )and (?!retry-after|body |\d)")
_SPAN = re.compile(
    rf"^(?P<what>.*?)(?: for (?:(?P<time>{PATTERN})|(?P<count>\d+) (?:requests?|times?)"
    r'|(?P<ever>ever))| (?P<once>once)| until hold "(?P<hold>[^"]+)" is released)?$'
)


def _what(text: str) -> str:
    return {"the listing": "models"}.get(text, text.strip('"'))


def _duration(text: str) -> float:
    return duration(text)


_TYPES = {
    "duration": parse.with_pattern(PATTERN)(_duration),
    "what": parse.with_pattern(WHAT)(_what),
}


def _compiled() -> Iterator[tuple[Any, type[Any], Mapping[str, Any]]]:
    for cls in faults().values():
        for pattern, fixed in getattr(cls, "phrases", {}).items():
            yield _parser(pattern), cls, fixed


@functools.cache
def _parser(pattern: str) -> Any:
    typed = pattern.replace("{what}", "{what:what}")
    return parse.compile(typed, _TYPES, case_sensitive=True)


def fault_phrases() -> tuple[str, ...]:
    """Every phrase that names a fault, in the order of the faults' names."""
    return tuple(pattern for cls in faults().values() for pattern in getattr(cls, "phrases", {}))


def _fault(text: str) -> tuple[str, Fault] | None:
    """The endpoint and the fault of a phrase; None when no fault says it."""
    for parser, cls, fixed in _compiled():
        found = parser.parse(text)
        if found is not None:
            fields = dict(found.named)
            what = fields.pop("what", "everything")
            return what, cls(**fixed, **fields)
    return None


def rule(text: str) -> Rule:
    """The rule of a phrase; raises `WrongInput` with the nearest phrase."""
    span = _SPAN.match(text.strip())
    assert span is not None  # every part but the first is optional
    if span["hold"]:
        raise WrongInput(
            f'rule "{text}"',
            expected='"for 3 requests", "for 8 seconds" or "for ever"',
            found=f'"until hold "{span["hold"]}" is released"',
            do="a phase of a life can last until a hold is released",
        )
    what, fault = _all_of([_one(part, text) for part in _AND.split(span["what"])], text)
    times = 1 if span["once"] else int(span["count"]) if span["count"] else None
    return Rule(what, fault, times, duration(span["time"]) if span["time"] else None)


def _one(part: str, whole: str) -> tuple[str, Fault]:
    found = _fault(part)
    if found is None:
        raise WrongInput(
            f'rule "{whole}"',
            expected='what a fault does to an endpoint, such as "answers chat with 503"',
            found=f'"{part}"',
            do=_advice(part, fault_phrases()),
        )
    return found


def _all_of(found: list[tuple[str, Fault]], whole: str) -> tuple[str, Fault]:
    """One rule's faults in one: they must be about one endpoint."""
    targets = {what for what, _ in found}
    if len(targets) > 1:
        raise WrongInput(
            f'rule "{whole}"',
            expected="one endpoint in one rule",
            found=" and ".join(sorted(targets)),
            do="write two rules",
        )
    made = tuple(fault for _, fault in found)
    return targets.pop(), made[0] if len(made) == 1 else Combines(made)


def life(text: str) -> tuple[Phase, ...]:
    """The phases of a phrase; raises `WrongInput` with the nearest verb or phrase."""
    return tuple(_phase(part, text) for part in re.split(r",? then ", text.strip()))


def _phase(text: str, whole: str) -> Phase:
    where = f'life "{whole}"'
    for verb in sorted(VERBS, key=len, reverse=True):
        if re.match(rf"{re.escape(verb)}(?= |$)", text):
            break
    else:
        start = " ".join(text.split()[:2])
        raise WrongInput(
            where,
            expected=f"a phase: {', '.join(VERBS)}",
            found=f'"{text}"',
            do=_advice(start, tuple(VERBS)),
        )
    rest = text[len(verb) :].strip()
    first, *clauses = _AND.split(rest)
    span = _SPAN.match(f" {first.strip()}" if first.strip() else "")
    if span is None or span["what"].strip():
        raise WrongInput(
            where,
            expected='"for 12 seconds", "for 3 requests" or "until hold ... is released"',
            found=f'"{first.strip()}" after "{verb}"',
            do='join what it does with "and"',
        )
    fields: dict[str, Any] = {}
    if span["time"]:
        fields["seconds"] = duration(span["time"])
    if span["count"] or span["once"]:
        fields["requests"] = int(span["count"] or 1)
    if span["hold"]:
        fields["hold"] = span["hold"]
    cls = VERBS[verb]
    for clause in clauses:
        for target, does in _clause(clause.strip(), cls, where).items():
            before = fields.get(target)
            both = isinstance(before, Fault) and isinstance(does, Fault)
            fields[target] = Combines((cast(Fault, before), does)) if both else does
    return cls(**fields)


def _clause(text: str, cls: type[Phase], where: str) -> dict[str, Any]:
    known = getattr(cls, "__dataclass_fields__", {})
    if text in ("is listed", "is not listed") and "listed" in known:
        return {"listed": text == "is listed"}
    found = _fault(text)
    if found is None:
        raise WrongInput(
            where,
            expected='what it does to an endpoint, such as "never answers chat"',
            found=f'"{text}"',
            do=_advice(text, (*fault_phrases(), "is listed", "is not listed")),
        )
    what, fault = found
    targets = {
        "everything": ("health", "listed", *INFERENCE),
        "inference": INFERENCE,
        "models": ("listed",),
    }.get(what, (what,))
    for target in targets:
        if target not in known:
            raise WrongInput(
                where,
                expected=f"an endpoint that a phase scripts: {', '.join(['health', 'models', *INFERENCE])}",
                found=f'"{what}" in the phase "{cls.name}"',
                do="use a rule for a path; dead, refusing and accepting phases answer nothing",
            )
    return dict.fromkeys(targets, fault)


def _example(pattern: str) -> str:
    filled = pattern.replace("{what}", "chat").replace("{status:d}", "503")
    filled = re.sub(r"\{\w+:duration\}", "1 second", filled)
    return re.sub(r"\{\w+:d\}", "3", filled)


def _advice(text: str, known: tuple[str, ...]) -> str:
    """The nearest phrase, compared with examples of each."""
    near = nearest(text, map(_example, known))
    return f'did you mean "{near}"?' if near else "`staticfire steps` lists the phrases"
