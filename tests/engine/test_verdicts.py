"""Tests of verdicts on a client: each is seen found and seen not found.

`features/clients.feature` plays whole clients; here are the edges.
"""

from __future__ import annotations

import asyncio

import pytest

from staticfire.clock.virtual import run
from staticfire.engine import Answers, MockEngine, Resets, Rule, Script, Truncates, verdicts


@pytest.fixture
def found(http):
    """The names of what an engine with a fault finds about a client that waits so long each time."""

    def play(fault, waits, *, times=None, kept=(), body=None, **chat):
        async def main():
            rule = Rule("chat", fault, times=times)
            async with MockEngine(Script(rules=[rule]), name="e") as engine:
                await http.talk(engine, http.chat(**chat))
                for wait in waits:
                    await asyncio.sleep(wait)
                    await http.talk(engine, http.chat(**chat, **(body or {})))
                findings = verdicts.on_client(engine, kept)
                assert [str(f) for f in findings] == [
                    f"{f.verdict} ({', '.join(f'#{n}' for n in f.requests)}): {f.why}"
                    for f in findings
                ]
                return [finding.verdict for finding in findings]

        return run(main())

    return play


@pytest.mark.parametrize(
    ("wait", "verdict"), [(1.999, ["ignored Retry-After"]), (2, []), (2.5, [])]
)
def test_retry_after_counts_from_the_answer(found, wait, verdict):
    """To the very second: coming back when it has passed is right."""
    assert found(Answers(429, retry_after=2), [wait], times=1) == verdict


def test_a_date_as_retry_after_is_not_judged(found):
    """An engine's journal knows no dates, so it proves nothing."""
    date = "Wed, 21 Oct 2026 07:28:00 GMT"
    assert found(Answers(503, retry_after=date), [0.1], times=1) == []


@pytest.mark.parametrize(
    ("waits", "verdict"),
    [
        ([2.5, 2.5, 2.5], ["did not back off"]),
        ([2.5, 2.6, 3.7], ["did not back off"]),
        ([2.5, 2.5, 3.75], []),
        ([2.5, 2.5], []),
        ([0.5, 1, 2, 4], []),
        ([4, 0.5, 3], []),
    ],
)
def test_waits_that_grow_by_half_are_a_backoff(found, waits, verdict):
    """Jitter is allowed; two waits prove nothing."""
    assert found(Answers(503), waits) == verdict


def test_waits_that_were_told_are_no_missing_backoff(found):
    """Who waits as long as it is told need not wait longer each time."""
    assert found(Answers(503, retry_after=3), [3, 3, 3, 3]) == []


@pytest.mark.parametrize(
    ("waits", "storm"),
    [([1, 2, 2, 2, 3], True), ([1, 2, 2, 2, 3.001], False), ([0, 1, 2, 3], False)],
)
def test_a_storm_is_more_than_five_attempts_in_ten_seconds(found, waits, storm):
    """The sixth within ten seconds of the first."""
    assert ("made a retry storm" in found(Resets(), waits)) is storm


@pytest.mark.parametrize("status", [400, 401, 404, 413, 422])
def test_what_was_called_wrong_is_not_sent_again(found, status):
    """However long the client waited."""
    assert found(Answers(status), [60], times=1) == ["retried a 4xx"]


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500])
def test_some_statuses_invite_another_try(found, status):
    """They say nothing against the request."""
    assert found(Answers(status), [1], times=1) == []


def test_another_request_is_no_retry(found):
    """A changed body is a new question."""
    assert found(Answers(400), [1], times=1, body={"max_tokens": 5}) == []


def test_what_was_answered_may_be_asked_again(found):
    """A repeated question after a success is no retry."""
    assert found(Answers(400), [0, 0, 0, 0, 0, 0, 0], times=None, model="mock") != []
    assert found(Answers(200), [0, 0, 0, 0, 0, 0, 0]) == []


CUT = Truncates(events=4)  # the role, then three tokens


def said(count):
    return "".join(MockEngine(name="e").identity.tokens(1, count))


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (said(3), ["took a cut stream for whole"]),
        (said(3).strip(), ["took a cut stream for whole"]),
        (said(3) + " more", []),
        (said(8), []),
        ("", []),
    ],
)
@pytest.mark.parametrize("how", ["kept", "message"])
def test_a_cut_answer_that_is_used_was_taken_for_whole(found, how, text, verdict):
    """By what the client handed on, or by what its next request has among its messages."""
    if how == "kept":
        assert found(CUT, [], kept=[text], stream=True, max_tokens=8) == verdict
        return
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": text}]
    body = {"messages": messages}
    assert found(CUT, [1], times=1, body=body, stream=True, max_tokens=8) == verdict


def test_the_beginning_of_a_whole_answer_proves_nothing(found):
    """Only a stream that was cut can be taken for whole."""
    assert found(Answers(200), [], kept=[said(3)], stream=True, max_tokens=8) == []
