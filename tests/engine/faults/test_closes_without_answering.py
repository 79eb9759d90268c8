"""Tests of the fault `closes without answering`."""

from __future__ import annotations

from staticfire.clock.virtual import run
from staticfire.engine import ClosesWithoutAnswering, MockEngine, Rule, Script


def test_the_connection_ends_by_fin_without_a_byte(http):
    """The client sees a clean end and no answer."""

    async def main():
        async with MockEngine(Script(rules=[Rule("chat", ClosesWithoutAnswering())])) as engine:
            heard = await http.talk(engine, http.chat(close=False))
            return heard, engine.journal.requests()[0]

    heard, asked = run(main())
    assert (heard.data, heard.ended) == (b"", "fin")
    assert asked.ended == "cut"
