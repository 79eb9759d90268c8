"""Tests of the engine's own surface: what a test does to it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest

from staticfire.clock.virtual import run
from staticfire.engine import Answers, Busy, Loading, MockEngine, Rule, Script, fault
from staticfire.engine.actions import Head
from staticfire.errors import WrongInput


@fault("breaks in the middle")
@dataclass(frozen=True, slots=True)
class Breaks:
    """A user's fault with a bug in it."""

    def play(self, honest, ask):
        for action in honest:
            yield action
            if isinstance(action, Head):
                raise LookupError("a bug in a fault")  # noqa: TRY004


def test_a_rule_that_was_added_before_the_start_counts_from_it(http):
    """Rules may be given before the engine runs; their seconds begin with its life."""

    async def main():
        engine = MockEngine()
        engine.add_rule(Rule("chat", Answers(503), seconds=8))
        await asyncio.sleep(100)
        async with engine:
            first = (await http.talk(engine, http.chat())).status
            await asyncio.sleep(8)
            return first, (await http.talk(engine, http.chat())).status

    assert run(main()) == (503, 200)


@pytest.mark.parametrize("verb", ["kill", "restart", "run"])
def test_only_a_started_engine_has_a_life_to_change(verb):
    """Before the start, a change of life says what to do."""
    with pytest.raises(WrongInput, match=r"await engine.start\(\) first"):
        getattr(MockEngine(), verb)()


@pytest.mark.parametrize("name", ["", "a\r\nx-injected: 1"])
def test_a_name_goes_into_a_header_and_must_be_printable(name):
    """A name that would break the head is refused."""
    with pytest.raises(WrongInput, match="engine: name"):
        MockEngine(name=name)


def test_a_restart_takes_another_script_and_forgets_the_rules(http):
    """The new life does what its script says, with fresh slots and counters."""

    async def main():
        async with MockEngine(Script(model="a")) as engine:
            engine.add_rule(Rule("chat", Answers(500)))
            first = await http.talk(engine, http.chat())
            engine.restart(Script(model="b", life=[Busy(seconds=2)]))
            second = await http.talk(engine, http.chat())
            await asyncio.sleep(2)
            third = await http.talk(engine, http.chat())
            return first.status, second.status, third.json()["model"], engine.generation

    assert run(main()) == (500, 503, "b", 2)


def test_connects_in_the_accept_queue_end_with_the_engine(http):
    """A client that connects in the very turn of the stop is not left hanging."""

    async def main():
        engine = await MockEngine().start()
        reader, writer = await asyncio.open_connection("127.0.0.1", engine.port)
        await engine.stop()
        heard = await http.listen(reader, patience=5)
        writer.close()
        return heard

    heard = run(main())
    assert heard.data == b""
    assert heard.ended in ("fin", "reset")


def test_a_bug_in_a_fault_is_kept_and_told(http):
    """The exception stands in `engine.errors`, the answer is cut, the request has failed."""

    async def main():
        async with MockEngine(Script(rules=[Rule("chat", Breaks())])) as engine:
            heard = await http.talk(engine, http.chat())
            return heard, engine.errors, engine.journal.requests()[0]

    heard, errors, asked = run(main())
    assert heard.body == b""
    assert [type(error) for error in errors] == [LookupError]
    assert asked.ended == "failed"


def test_an_unhealthy_health_is_empty_as_vllm_s(http):
    """A scripted 503 of /health has no body, in vLLM's own way."""

    async def main():
        async with MockEngine(Script(life=[Loading(health=503)])) as engine:
            return await http.talk(engine, http.get("/health"))

    heard = run(main())
    assert (heard.status, heard.body) == (503, b"")
    assert b"content-length: 0" in heard.head


def test_a_status_without_a_body_has_no_length(http):
    """204 is sent without body and Content-Length."""

    async def main():
        async with MockEngine(Script(rules=[Rule("chat", Answers(204))])) as engine:
            return await http.talk(engine, http.chat())

    heard = run(main())
    assert heard.data.endswith(b"\r\n\r\n")
    assert b"content-length" not in heard.head


@pytest.mark.parametrize("key", ["tokens", "max_model_len"])
def test_a_script_s_numbers_have_a_least_value(key):
    """Zero tokens or no room for a prompt is wrong input."""
    with pytest.raises(WrongInput, match=f"script: {key}: expected at least 1"):
        Script(**{key: 0})
