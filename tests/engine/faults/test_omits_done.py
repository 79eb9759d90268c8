"""Tests of the fault `omits [DONE]`."""

from __future__ import annotations

from staticfire.clock.virtual import run
from staticfire.engine import MockEngine, OmitsDone, Rule, Script


def test_the_stream_is_whole_by_its_framing_and_lacks_done(http):
    """Every event but [DONE] arrives, and the chunked end too."""

    async def main():
        async with MockEngine(Script(rules=[Rule("chat", OmitsDone())])) as engine:
            return await http.talk(engine, http.chat(stream=True))

    heard = run(main())
    assert len(heard.events) == 5
    assert b"finish_reason" in heard.events[-1]
    assert b"[DONE]" not in heard.data
    assert heard.data.endswith(b"0\r\n\r\n")
