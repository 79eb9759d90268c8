"""Tests of the fault `resets`."""

from __future__ import annotations

from staticfire.clock.virtual import run
from staticfire.engine import MockEngine, Resets, Rule, Script


def test_the_connection_ends_by_rst_without_a_byte(http):
    """The client sees a reset and no answer; the engine goes on serving others."""

    async def main():
        async with MockEngine(Script(rules=[Rule("chat", Resets(), times=1)])) as engine:
            heard = await http.talk(engine, http.chat())
            again = await http.talk(engine, http.chat())
            return heard, again, engine.journal.requests()[0]

    heard, again, asked = run(main())
    assert (heard.data, heard.ended) == (b"", "reset")
    assert again.status == 200
    assert asked.ended == "reset"
