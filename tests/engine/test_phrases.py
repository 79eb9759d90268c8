"""Tests of lives and rules in Gherkin's words."""

from __future__ import annotations

import re

import pytest

from staticfire.engine import (
    Accepting,
    Answers,
    AnswersWithoutClosing,
    Busy,
    Dead,
    Dribbles,
    Loading,
    Resets,
    Rule,
    SendsErrorEvent,
    Serving,
    Truncates,
    Waits,
    faults,
)
from staticfire.engine.phrases import VERBS, fault_phrases, life, rule
from staticfire.errors import WrongInput


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("answers chat with 503 for 8 seconds", Rule("chat", Answers(503), seconds=8)),
        ('answers chat with 200 and body "{}"', Rule("chat", Answers(200, body="{}"))),
        ("answers the listing with 500 once", Rule("models", Answers(500), times=1)),
        ("dribbles chat", Rule("chat", Dribbles())),
        (
            "dribbles the head of chat 2 bytes every 500 ms without end",
            Rule("chat", Dribbles(2, 0.5, "head", endless=True)),
        ),
        ("truncates chat after 9 bytes of the wire", Rule("chat", Truncates(9, wire=True))),
        (
            "truncates inference after 2.5 s with a reset for ever",
            Rule("inference", Truncates(seconds=2.5, reset=True)),
        ),
        ("truncates chat after 3 events", Rule("chat", Truncates(events=3))),
        ('resets "GET /metrics"', Rule("GET /metrics", Resets())),
        ("answers chat without closing, unframed", Rule("chat", AnswersWithoutClosing("none"))),
        (
            "sends an error event 503 in chat after 1 event without [DONE]",
            Rule("chat", SendsErrorEvent(503, 1, done=False)),
        ),
        (
            "waits 2 min 52 s before the first token of chat",
            Rule("chat", Waits(before_first_token=172)),
        ),
    ],
)
def test_a_phrase_is_a_rule(text, value):
    """Each phrase gives the rule that Python spells."""
    assert rule(text) == value


def test_every_declared_phrase_is_understood():
    """No pattern of a fault shadows another: each one, filled in, makes its own fault."""
    for cls in faults().values():
        for pattern in getattr(cls, "phrases", {}):
            text = pattern.replace("{what}", "chat").replace("{status:d}", "503")
            text = re.sub(r"\{\w+:duration\}", "3 seconds", text)
            text = re.sub(r"\{\w+:d\}", "30", text)
            text = re.sub(r"\{\w+\}", "x", text)
            assert type(rule(text).do) is cls, text
    assert len(fault_phrases()) > 100


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("serves", (Serving(),)),
        (
            "is busy for 3 requests, then dies for 5 s, then serves",
            (Busy(requests=3), Dead(seconds=5), Serving()),
        ),
        (
            'accepts connects for 1 s then loads until hold "weights" is released',
            (Accepting(seconds=1), Loading(hold="weights")),
        ),
        (
            "loads for 3 s and is not listed and answers health with 503 and retry-after 2 s",
            (Loading(seconds=3, listed=False, health=Answers(503, retry_after=2)),),
        ),
        (
            "serves and resets everything",
            (
                Serving(
                    health=Resets(),
                    listed=Resets(),
                    chat=Resets(),
                    completions=Resets(),
                    embeddings=Resets(),
                ),
            ),
        ),
    ],
)
def test_a_phrase_is_a_life(text, value):
    """Each phrase gives the phases that Python spells."""
    assert life(text) == value


def test_every_verb_is_a_phase():
    """Each verb alone makes its phase."""
    for verb, cls in VERBS.items():
        assert life(verb) == (cls(),)


@pytest.mark.parametrize(
    ("parse", "text", "advice"),
    [
        (rule, "anwers chat with 503", 'did you mean "answers chat with 503"'),
        (rule, "never answers chatt", 'did you mean "never answers chat"'),
        (life, "refuzes for 3 s", 'did you mean "refuses'),
        (life, "loads 3 s", 'found "3 s" after "loads"'),
        (life, "loads and never answer chat", 'did you mean "never answers chat"'),
        (life, "dies and never answers chat", 'found "chat" in the phase "dead"'),
        (life, 'serves and resets "GET /x"', "use a rule for a path"),
    ],
)
def test_what_is_not_understood_gets_the_nearest_phrase(parse, text, advice):
    """A wrong phrase is one error that names what was meant."""
    with pytest.raises(WrongInput) as caught:
        parse(text)
    assert advice in str(caught.value)
