"""Tests of the registry of faults and of a user's own one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from staticfire.clock.virtual import run
from staticfire.engine import MockEngine, NeverAnswers, Rule, Script, Serving, fault
from staticfire.engine.actions import Send
from staticfire.engine.faults.base import make
from staticfire.engine.phrases import rule
from staticfire.engine.toml import parse_script
from staticfire.errors import WrongInput


@fault("doubles")
@dataclass(frozen=True, slots=True)
class Doubles:
    """Sends each event more than once."""

    times: int = 2

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]] = {"doubles {what} {times:d} times over": {}}

    def play(self, honest, ask):
        for action in honest:
            yield action
            if isinstance(action, Send) and action.event:
                for _ in range(self.times - 1):
                    yield action


def test_a_user_s_fault_is_one_class_and_one_line(http):
    """Registered once, a fault is used by its name from Python, TOML and Gherkin, and plays."""
    python = Rule("chat", "doubles")
    toml = parse_script('rule = [{ on = "chat", do = "doubles" }]').rules[0]
    gherkin = rule("doubles chat 2 times over")
    assert python == toml == gherkin

    async def main():
        async with MockEngine(Script(rules=[gherkin])) as engine:
            return await http.talk(engine, http.chat(stream=True))

    events = run(main()).events
    assert len(events) == 12
    assert events[0::2] == events[1::2]


def test_an_unknown_name_gets_the_nearest():
    """A misspelt fault names the one that was meant, with its place."""
    with pytest.raises(WrongInput, match=r'phase serving: chat: .*did you mean "never answers"'):
        Serving(chat="never answer")


def test_an_unknown_field_gets_the_nearest():
    """A misspelt field names the one that was meant."""
    with pytest.raises(WrongInput, match='did you mean "every"'):
        make("dribbles", evry=1)


def test_a_missing_field_is_named():
    """A fault that cannot do without a field says which."""
    with pytest.raises(WrongInput, match='the field "status"'):
        make("answers")


@pytest.mark.parametrize("value", [NeverAnswers, 5, math.pi, None])
def test_what_is_no_fault_is_refused(value):
    """A class in place of its value, or any other object, is wrong input."""
    with pytest.raises(WrongInput, match="a fault or the name of one"):
        Rule("chat", value)


def test_registration_refuses_what_would_fail_later():
    """A taken name, a class that is not frozen and one without `play` are refused at once."""
    with pytest.raises(WrongInput, match="a new name"):

        @fault("resets")
        @dataclass(frozen=True)
        class Other:
            def play(self, honest, ask):
                return honest

    with pytest.raises(WrongInput, match="a frozen dataclass"):

        @fault("thaws")
        class Thawed:
            def play(self, honest, ask):
                return honest

    with pytest.raises(WrongInput, match="a method play"):

        @fault("does nothing")
        @dataclass(frozen=True)
        class Idle:
            pass
