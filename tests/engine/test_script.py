"""Tests of script values and their three spellings."""

from __future__ import annotations

import pytest

from staticfire.engine import (
    Answers,
    Loading,
    NeverAnswers,
    Refuses,
    Resets,
    Rule,
    Script,
    Serving,
)
from staticfire.engine.phrases import life, rule
from staticfire.engine.rules import Rules
from staticfire.engine.toml import parse_script
from staticfire.errors import WrongInput

TOML = """
model = "qwen"
personality = "vllm"
life = [{ phase = "refuses", for = "12s" }, { phase = "loading", for = "352s", chat = "never answers" }, { phase = "serving" }]
[[rule]]
on = "POST /v1/chat/completions"
times = 3
do = { fault = "answers", status = 503, retry_after = "1s" }
"""


def test_python_toml_and_gherkin_spell_the_same_value():
    """The three spellings of the design's example are equal."""
    python = Script(
        model="qwen",
        personality="vllm",
        life=[
            Refuses(seconds=12),
            Loading(seconds=352, health=200, listed=True, chat=NeverAnswers()),
            Serving(),
        ],
        rules=[Rule("POST /v1/chat/completions", times=3, do=Answers(503, retry_after=1))],
    )
    gherkin = Script(
        model="qwen",
        life=life(
            "refuses for 12 seconds, then loads for 352 seconds and never answers chat, then serves"
        ),
        rules=[rule("answers chat with 503 and retry-after 1 second for 3 requests")],
    )
    assert parse_script(TOML) == python == gherkin


def test_a_script_is_a_value():
    """Scripts can be hashed and lists in them are frozen."""
    assert hash(Script(life=[Serving()])) == hash(Script(life=(Serving(),)))


def test_short_names_are_routes():
    """`chat` and its route make equal rules."""
    assert Rule("chat", "resets") == Rule("POST /v1/chat/completions", Resets())


@pytest.mark.parametrize(
    ("on", "hits"),
    [
        ("everything", True),
        ("inference", True),
        ("* /v1/chat/completions", True),
        ("GET /v1/chat/completions", False),
        ("health", False),
    ],
)
def test_a_rule_matches_by_method_and_path(on, hits):
    """A star stands for any method, and at a path's end for any rest."""
    assert Rule(on, "resets").matches("POST", "/v1/chat/completions") is hits


def test_the_rule_added_last_acts_first():
    """An added rule comes before older ones; once it is used up, they act again."""
    rules = Rules.of([Rule("chat", Answers(500))], 0).add(Rule("chat", Answers(503), times=1), 0)
    statuses = []
    for _ in range(2):
        taken, rules = rules.take("POST", "/v1/chat/completions", 0)
        statuses.append(taken.do.status)
    assert statuses == [503, 500]


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: Rule("chatt", "resets"), 'rule: on: .*did you mean "chat"'),
        (lambda: Rule("chat", "resets", times=0), "rule: times: expected at least 1"),
        (lambda: Script(personality="vlm"), 'script: personality: .*did you mean "vllm"'),
        (lambda: Script(life=[Serving]), "script: life: expected values of Phase"),
        (lambda: Script(life=Serving()), "script: life: expected a list"),
    ],
)
def test_a_wrong_script_says_where_and_what(make, match):
    """Each mistake is one error with place, expected, found and the nearest name."""
    with pytest.raises(WrongInput, match=match):
        make()
