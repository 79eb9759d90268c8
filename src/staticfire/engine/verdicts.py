"""What a mock engine's journal says of its client: how it behaves when it is refused or cut off.

    assert not verdicts.on_client(engine)

Each verdict is a pure function of a journal, and finds only what a journal proves. Attempts are
requests with one method, path and body from one session; a retry is an attempt that came after the
one before it had ended. So give each request that means another thing a text of its own.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from staticfire.clock import ns, seconds
from staticfire.engine.desk import EngineDesk
from staticfire.engine.journal import Journal, Request

__all__ = [
    "VERDICTS",
    "Finding",
    "ignored_retry_after",
    "made_a_retry_storm",
    "never_backed_off",
    "on_client",
    "retried_a_4xx",
    "took_a_cut_stream_for_whole",
]

MAY_BE_RETRIED = frozenset({408, 409, 425, 429})
"""Statuses of 4xx that a client may ask again after: none of them says that it was wrong."""
GROWTH = 1.5
"""A client backs off when its longest wait is at least so many times its shortest."""
NO_WAIT = ns(0.05)
"""Waits below this are all the same: no wait."""
STORM, WINDOW = 5, ns(10)
"""More attempts than this at one request within the window are a storm."""
ENDS = frozenset({"done", "closes", "resets", "client left"})
"""Rows that end the request of their connection."""
CUT = frozenset({"cut", "reset", "killed"})


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict that was found: which, on which requests (by their numbers), why."""

    verdict: str
    requests: tuple[int, ...]
    why: str

    def __str__(self) -> str:
        numbers = ", ".join(f"#{number}" for number in self.requests)
        return f"{self.verdict} ({numbers}): {self.why}"


def attempts(journal: Journal) -> list[list[Request]]:
    """The requests as chains: each retry after the attempt before it."""
    opened, ended = _order(journal)
    chains: defaultdict[object, list[list[Request]]] = defaultdict(list)

    def follows(last: Request, request: Request) -> bool:
        if not _failed(last) or last.ended_at is None:
            return False
        if last.ended_at < request.at or last.connection == request.connection:
            return True
        # Of one instant: who connected after an answer ended may come because of it.
        over = ended.get(last.number)
        return over is not None and over < opened.get(request.connection, 0)

    for request in journal.requests():
        alike = chains[request.method, request.path, request.body, request.session]
        for chain in alike:
            if follows(chain[-1], request):
                chain.append(request)
                break
        else:
            alike.append([request])
    return [chain for own in chains.values() for chain in own]


def _order(journal: Journal) -> tuple[dict[int, int], dict[int, int]]:
    """Where in the journal each connection was opened, and where each request ended."""
    opened: dict[int, int] = {}
    ended: dict[int, int] = {}
    asking: dict[int, int] = {}
    number = 0
    for row in journal.rows:
        if row.what == "connects":
            opened[row.connection] = row.seq
        elif row.what == "request":
            number += 1
            asking[row.connection] = number
        elif row.what in ENDS and row.connection in asking:
            ended.setdefault(asking[row.connection], row.seq)
    return opened, ended


def _failed(request: Request) -> bool:
    """Whether an attempt ended without success, so that another one may be a retry of it."""
    if request.ended == "whole":
        return request.status is not None and request.status >= 400
    return request.ended != "open"


def _retries(journal: Journal) -> Iterable[tuple[Request, Request, int]]:
    """Each attempt with its retry and the wait between them (ns)."""
    for chain in attempts(journal):
        for before, after in pairwise(chain):
            yield before, after, after.at - (before.ended_at or before.at)


def ignored_retry_after(journal: Journal) -> list[Finding]:
    """It was told when to come back (seconds, RFC 9110 10.2.3) and came sooner."""
    found = []
    for before, after, wait in _retries(journal):
        told = before.retry_after
        if told is not None and told.strip().isdecimal() and wait < int(told) * ns(1):
            why = f"told to wait {told.strip()} s, it came back after {seconds(wait):g} s"
            found.append(Finding("ignored Retry-After", (before.number, after.number), why))
    return found


def never_backed_off(journal: Journal) -> list[Finding]:
    """It was refused three times or more and its waits did not grow, nor was it told how long."""
    found = []
    for chain in attempts(journal):
        waits = [
            max(after.at - (before.ended_at or before.at), NO_WAIT)
            for before, after in pairwise(chain)
            if before.retry_after is None and not _refused_for_good(before)
        ]
        if len(waits) > 2 and max(waits) < GROWTH * min(waits):
            shown = ", ".join(f"{seconds(wait):g}" for wait in waits[:6])
            why = f"its waits do not grow: {shown} s"
            found.append(Finding("did not back off", _numbers(chain), why))
    return found


def made_a_retry_storm(journal: Journal) -> list[Finding]:
    """It tried one request more than five times within ten seconds."""
    found = []
    for chain in attempts(journal):
        for first, last in zip(chain, chain[STORM:], strict=False):
            if last.at - first.at <= WINDOW:
                lasted = seconds(last.at - first.at)
                why = f"{STORM + 1} attempts within {lasted:g} s, {len(chain)} in all"
                found.append(Finding("made a retry storm", _numbers(chain), why))
                break
    return found


def retried_a_4xx(journal: Journal) -> list[Finding]:
    """It was told that its request is wrong and sent it again (not 408, 409, 425, 429)."""
    return [
        Finding(
            "retried a 4xx",
            (before.number, after.number),
            f"the same request again after {before.status}",
        )
        for before, after, _ in _retries(journal)
        if _refused_for_good(before)
    ]


def took_a_cut_stream_for_whole(
    journal: Journal, said: Callable[[Request], Sequence[str]], kept: Iterable[str] = ()
) -> list[Finding]:
    """It went on with the beginning of an answer that was cut off, as if it were the answer.

    That is so when a later request has it among its messages as the assistant's, or when the client
    handed it on: `kept` are texts that the tester got from it. `said` gives the tokens of an answer.
    """
    found = []
    requests = journal.requests()
    for cut in requests:
        if not cut.stream or cut.ended not in CUT or cut.tokens < 1:
            continue
        tokens = said(cut)
        pieces = {"".join(tokens[:count]).strip() for count in (cut.tokens, cut.tokens - 1)} - {""}
        later = [r for r in requests if r.number > cut.number and pieces & _answers_in(r)]
        if later or pieces & {text.strip() for text in kept}:
            how = f"request #{later[0].number} carries it" if later else "it was handed on"
            why = f"the stream was {cut.ended} after {cut.tokens} tokens, and {how}"
            numbers = (cut.number, *(r.number for r in later[:1]))
            found.append(Finding("took a cut stream for whole", numbers, why))
    return found


def on_client(engine: EngineDesk, kept: Iterable[str] = ()) -> list[Finding]:
    """Every finding on an engine's client so far; `kept` are texts that the client handed on."""

    def said(request: Request) -> Sequence[str]:
        return engine.identity.tokens(request.number, request.tokens)

    simple = (finding for verdict in VERDICTS.values() for finding in verdict(engine.journal))
    return [*simple, *took_a_cut_stream_for_whole(engine.journal, said, kept)]


VERDICTS: Mapping[str, Callable[[Journal], list[Finding]]] = {
    "ignored Retry-After": ignored_retry_after,
    "did not back off": never_backed_off,
    "made a retry storm": made_a_retry_storm,
    "retried a 4xx": retried_a_4xx,
}
"""The verdicts that need nothing but the journal, by their names."""


def _refused_for_good(request: Request) -> bool:
    """Whether the answer calls the request itself wrong."""
    status = request.status
    return status is not None and 400 <= status < 500 and status not in MAY_BE_RETRIED


def _numbers(chain: Sequence[Request]) -> tuple[int, ...]:
    return tuple(request.number for request in chain)


def _answers_in(request: Request) -> set[str]:
    """What a chat request's messages give as the assistant's words."""
    try:
        body = json.loads(request.body)
        words = [m["content"] for m in body["messages"] if m["role"] == "assistant"]
    except (ValueError, KeyError, TypeError):
        return set()
    return {text.strip() for text in words if isinstance(text, str)}
