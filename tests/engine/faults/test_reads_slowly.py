"""Tests of the fault `reads slowly`."""

from __future__ import annotations

import asyncio

import pytest

from staticfire.clock.virtual import run
from staticfire.engine import (
    Answers,
    MockEngine,
    NeverAnswers,
    ReadsSlowly,
    Rule,
    Script,
    Serving,
)
from staticfire.errors import WrongInput


def test_the_answer_comes_when_the_last_byte_was_read(http):
    """A request of n bytes at b bytes a second is answered after n // b seconds."""
    request = http.chat(close=False)
    size = len(request.partition(b"\r\n\r\n")[2])
    heard, asked = http.played(ReadsSlowly(10, 2.0), request=request, patience=1000)
    assert heard.times == [size // 10 * 2]
    assert (len(asked.body), asked.fault) == (size, "reads slowly")


def test_an_upload_stands_still(http):
    """What is not read is left with the kernel: a second in, only a part has been taken."""

    async def main():
        rule = Rule("chat", ReadsSlowly(1000, 1.0))
        async with MockEngine(Script(rules=[rule], max_model_len=10**9)) as engine:
            big = [{"role": "user", "content": "x" * 20_000_000}]
            _, writer = await asyncio.open_connection("127.0.0.1", engine.port)
            writer.write(http.chat(messages=big))
            await asyncio.sleep(10)
            taken = sum(row.size for row in engine.journal.rows if row.what == "in")
            left = writer.transport.get_write_buffer_size()
            writer.transport.abort()
            await asyncio.sleep(1)
            return taken, left, engine.errors

    taken, left, errors = run(main())
    assert taken < 2_000_000
    assert left > 1_000_000
    assert errors == []


def test_a_phase_may_read_slowly(http):
    """In a phase too, and no longer than it lasts."""

    async def main():
        life = [Serving(seconds=100, chat=ReadsSlowly(50, 1.0)), Serving()]
        async with MockEngine(Script(life=life)) as engine:
            slow = await http.talk(engine, http.chat())
            await asyncio.sleep(100)
            quick = await http.talk(engine, http.chat())
            return slow.lasted, quick.lasted

    slow, quick = run(main())
    assert slow >= 1
    assert quick == 0


def test_it_combines_with_what_is_answered(http):
    """Slow to read, then a 503: the client waits for its refusal."""
    heard, _ = http.played(Answers(503), ReadsSlowly(50, 1.0))
    assert heard.status == 503
    assert heard.lasted >= 1


def test_reading_does_not_use_up_a_rule(http):
    """A rule for one request acts on it once, although it is asked twice."""

    async def main():
        rules = [Rule("chat", ReadsSlowly(50, 1.0), times=1), Rule("chat", NeverAnswers())]
        async with MockEngine(Script(rules=rules)) as engine:
            first = await http.talk(engine, http.chat(), patience=60)
            await http.talk(engine, http.chat(), patience=60)
            return first.status, [r.fault for r in engine.journal.requests()]

    assert run(main()) == (200, ["reads slowly", "never answers"])


@pytest.mark.parametrize("fields", [{"bytes": 0}, {"every": 0.0}])
def test_a_pace_that_is_none_is_refused(fields):
    """Bytes must be read, and time must pass."""
    with pytest.raises(WrongInput, match="at least one byte"):
        ReadsSlowly(**fields)
