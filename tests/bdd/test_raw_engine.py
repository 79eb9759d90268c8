"""Raw engines: what a scenario writes down is what is sent."""

from __future__ import annotations

import pytest

from staticfire.bdd.raw_engine import RawEngine, read_play
from staticfire.clock.virtual import run
from staticfire.errors import WrongInput
from staticfire.judge import End, Judge


def test_a_play_is_read_line_by_line():
    """Pilcrow, escapes, pauses and directions; empty lines are left out."""
    text = """
      HTTP/1.1 200 OK¶¶

      a\\x00b\\r\\n
      [0.5 s]
      [for ever]
    """
    assert read_play(text) == (b"HTTP/1.1 200 OK\r\n\r\n", b"a\x00b\r\n", 0.5, "[for ever]")


def test_a_direction_that_is_none_is_told():
    """A mistyped direction is not sent as bytes."""
    with pytest.raises(WrongInput, match=r"expected \[0.5 s\], \[close\], .*, found \[closes\]"):
        read_play("[closes]")


@pytest.mark.parametrize(
    ("last", "end"),
    [("[close]", End.CUT), ("[reset]", End.RESET), ("[0.1 s]", End.UNFINISHED)],
)
def test_it_ends_as_it_is_told(last, end):
    """In order, by a reset, or not at all."""

    async def main():
        engine = RawEngine(
            "one", "qwen", read_play(f"HTTP/1.1 200 OK¶Content-Length: 9¶¶abc\n{last}")
        )
        await engine.start()
        answer = await Judge(engine.url).ask("POST", "/v1/chat/completions", deadline=1.0)
        listing = await Judge(engine.url).ask("GET", "/v1/models", deadline=1.0)
        await engine.stop()
        return answer.end, listing.json(), engine.timeline()

    ended, listing, seen = run(main())
    assert ended is end
    assert listing["data"] == [{"id": "qwen"}]
    assert seen == ["POST /v1/chat/completions", "GET /v1/models"]
