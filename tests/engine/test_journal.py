"""Tests of the journal."""

from __future__ import annotations

import asyncio

from staticfire.clock.virtual import run
from staticfire.engine import (
    Capacity,
    Dead,
    Dribbles,
    MockEngine,
    Refuses,
    Rule,
    Script,
    Serving,
    Truncates,
)


def test_requests_carry_what_a_test_asks_about(http):
    """Method, path, status, session, stream, model, fault, times and end of each request."""

    async def main():
        script = Script(model="qwen", capacity=Capacity(first_token=2.0))
        async with MockEngine(script) as engine:
            await http.talk(engine, http.get("/health"))
            await http.talk(engine, http.chat(model="qwen", headers=("X-Session-Id: ann",)))
            engine.add_rule(Rule("chat", Truncates(events=1)))
            await http.talk(engine, http.chat(stream=True, user="bob"))
            return engine.journal.requests(on="POST /v1/chat/completions"), engine

    (first, second), engine = run(main())
    assert (first.number, first.status, first.session, first.stream) == (2, 200, "ann", False)
    assert (first.model, first.fault, first.ended, first.tokens) == ("qwen", None, "whole", 4)
    assert (first.at, first.ended_at) == (0, 2_000_000_000)
    assert first.json()["max_tokens"] == 4
    assert first.headers["x-session-id"] == "ann"
    assert (second.session, second.stream, second.fault) == ("bob", True, "truncates")
    assert (second.status, second.ended, second.phase) == (200, "cut", "serving")
    assert len(engine.journal.requests()) == 3


def test_a_body_that_is_no_json_is_kept(http):
    """The journal takes any body; what it cannot read out of it is None."""

    async def main():
        async with MockEngine() as engine:
            await http.talk(engine, http.request(body=b"\xff{"))
            await http.talk(engine, http.request(body=b"[1]"))
            return engine.journal.requests()

    for request in run(main()):
        assert (request.session, request.model, request.stream, request.status) == (
            None,
            None,
            False,
            400,
        )


def test_the_timeline_tells_the_story(http):
    """A line for each phase, request and end, with seconds from the start."""

    async def main():
        await asyncio.sleep(5)
        life = [Refuses(seconds=12), Serving(seconds=3), Dead()]
        async with MockEngine(Script(life=life), name="late") as engine:
            await asyncio.sleep(13)
            await http.talk(engine, http.get("/health"))
            await asyncio.sleep(5)
            return engine.timeline()

    assert run(main()) == [
        "     0.000 s  late starts",
        "     0.000 s  late phase: refuses",
        "    12.000 s  late phase: serving",
        "    13.000 s  late #1 connects",
        "    13.000 s  late #1 request: GET /health",
        "    13.000 s  late #1 answers: 200",
        "    13.000 s  late #1 closes: after the answer",
        "    15.000 s  late dies",
        "    15.000 s  late phase: dead",
    ]


def test_one_seed_gives_the_same_journal_and_the_same_bytes_twice(http):
    """Twenty clients of a faulty engine: equal rows and equal answers, ports aside."""

    async def main():
        script = Script(
            life=[Refuses(seconds=1), Serving()],
            capacity=Capacity(slots=3, first_token=0.5, per_token=0.01),
            rules=[Rule("chat", Dribbles(64, 0.25), times=5), Rule("chat", "resets", times=2)],
        )
        async with MockEngine(script, seed=11) as engine:
            await asyncio.sleep(1)
            asks = [
                asyncio.create_task(
                    http.talk(engine, http.chat(stream=n % 2 == 0, headers=(f"X-Session-Id: {n}",)))
                )
                for n in range(20)
            ]
            heard = [await ask for ask in asks]
            return [(h.pieces, h.ended) for h in heard], engine.journal.rows

    (heard, rows), (again, rows_again) = run(main()), run(main())
    assert heard == again
    assert rows == rows_again
    assert len(rows) > 150
