"""Tests of the fault `combines`."""

from __future__ import annotations

import pytest

from staticfire.clock.virtual import run
from staticfire.engine import Answers, Combines, MockEngine, Rule, Script, Truncates, Waits
from staticfire.engine.phrases import life, rule
from staticfire.engine.toml import parse_script
from staticfire.errors import WrongInput


def test_each_fault_plays_on_what_the_one_before_it_made(http):
    """A 503 whose body is cut after ten bytes, one rule for both."""

    async def main():
        does = rule("answers chat with 503 and truncates chat after 10 bytes for 5 requests")
        async with MockEngine(Script(rules=[does])) as engine:
            return await http.talk(engine, http.chat()), engine.journal.requests()[0]

    heard, asked = run(main())
    assert (heard.status, heard.body) == (503, b'{"error":{')
    assert (asked.fault, asked.ended) == ("answers and truncates", "cut")


def test_three_spellings_are_equal():
    """A list in Python and TOML is what `and` is in Gherkin."""
    python = Rule("chat", [Waits(between_tokens=1), Truncates(seconds=3)])
    gherkin = rule("waits 1 second between the tokens of chat and truncates chat after 3 seconds")
    toml = parse_script(
        'rule = [{ on = "chat", do = [{ fault = "waits", between_tokens = "1s" },'
        ' { fault = "truncates", seconds = "3s" }] }]'
    )
    assert python == gherkin == toml.rules[0]


def test_a_phase_combines_too():
    """Two clauses about one endpoint of a phase are combined."""
    (phase,) = life("serves and answers chat with 500 and truncates chat after 2 bytes")
    assert phase.chat == Combines((Answers(500), Truncates(bytes=2)))


def test_two_endpoints_need_two_rules():
    """One rule is about one endpoint."""
    with pytest.raises(WrongInput, match="write two rules"):
        rule("resets chat and resets health")


def test_nothing_cannot_be_combined():
    """An empty list is no fault."""
    with pytest.raises(WrongInput, match="a list of faults"):
        Rule("chat", [])
