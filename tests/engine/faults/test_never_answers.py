"""Tests of the fault `never answers`."""

from __future__ import annotations

from staticfire.clock.virtual import run
from staticfire.engine import MockEngine, NeverAnswers, Rule, Script


def test_nothing_ever_comes_back(http):
    """The connection stays open and silent for as long as the client waits."""

    async def main():
        async with MockEngine(Script(rules=[Rule("chat", NeverAnswers())])) as engine:
            heard = await http.talk(engine, http.chat(), patience=3600)
            health = await http.talk(engine, http.get("/health"))
            return heard, health, engine.journal.requests()

    heard, health, (asked, _) = run(main())
    assert (heard.data, heard.ended) == (b"", "open")
    assert health.status == 200
    assert (asked.status, asked.fault, asked.ended) == (None, "never answers", "client left")
