"""Tests of the fault `takes aborts`."""

from __future__ import annotations

import asyncio

import pytest

from staticfire.clock.virtual import run
from staticfire.engine import (
    Capacity,
    MockEngine,
    OutlivesItsClient,
    Rule,
    Script,
    TakesAborts,
)

PATH = "/abort_request"


def aborted(http, body, *, outlives=True, **asked):
    """What became of a slow stream that an abort with this body met after 3.5 s."""

    async def main():
        rules = [Rule(f"POST {PATH}", TakesAborts())]
        if outlives:
            rules.append(Rule("chat", OutlivesItsClient()))
        slow = Capacity(per_token=1.0)
        async with MockEngine(Script(rules=rules, capacity=slow)) as engine:
            request = http.chat(stream=True, max_tokens=8, **asked)
            patience = 2.5 if outlives else 600
            client = asyncio.create_task(http.talk(engine, request, patience=patience))
            await asyncio.sleep(3.5)
            answer = await http.talk(engine, http.request(path=PATH, body=body))
            heard = await client
            await asyncio.sleep(60)
            return answer, heard, engine.journal.requests()[0], engine.slots.running

    return run(main())


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        ({"rid": "r1"}, {"headers": ("X-Request-Id: r1",)}),
        ({"rid": "r1"}, {"rid": "r1"}),
        ({"rid": "r1"}, {"request_id": "r1"}),
        ({"abort_all": True}, {}),
    ],
)
def test_generation_for_nobody_ends(http, body, asked):
    """The id is found in the header or the body; no token is made after the abort."""
    answer, _, request, running = aborted(http, body, **asked)
    assert (answer.status, answer.body) == (200, b"")
    assert (request.tokens, request.tokens_after, running) == (4, 1, 0)


@pytest.mark.parametrize("body", [{"rid": "r2"}, {}, [], b"{"])
def test_another_request_goes_on(http, body):
    """An id of nobody, none at all, and a body that is no object end nothing; they get a 200."""
    answer, _, request, _ = aborted(http, body, headers=("X-Request-Id: r1",))
    assert answer.status == 200
    assert request.tokens == 8


def test_a_client_that_is_still_there_sees_a_cut(http):
    """Its stream ends at that instant, and the journal says why."""
    asked = {"headers": ("X-Request-Id: r1",)}
    _, heard, request, running = aborted(http, {"rid": "r1"}, outlives=False, **asked)
    assert (heard.ended, heard.lasted, request.ended) == ("fin", 3.5, "aborted")
    assert (request.tokens, running) == (4, 0)


def test_a_client_of_an_answer_that_outlives_clients_sees_a_cut_too(http):
    """Such an answer is ended wherever it is."""

    async def main():
        rules = [Rule(f"POST {PATH}", TakesAborts()), Rule("chat", OutlivesItsClient())]
        script = Script(rules=rules, capacity=Capacity(per_token=1.0))
        async with MockEngine(script) as engine:
            client = asyncio.create_task(http.talk(engine, http.chat(stream=True, max_tokens=8)))
            await asyncio.sleep(3.5)
            await http.talk(engine, http.request(path=PATH, body={"abort_all": True}))
            return await client, engine.journal.requests()[0], engine.errors

    heard, request, errors = run(main())
    assert (heard.ended, heard.lasted) == ("fin", 3.5)
    assert (request.tokens, request.ended, errors) == (4, "aborted", [])
