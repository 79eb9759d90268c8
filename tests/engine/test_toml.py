"""Tests of script files."""

from __future__ import annotations

import pytest

from staticfire.engine import (
    Answers,
    Busy,
    Capacity,
    Dead,
    Dribbles,
    Loading,
    NeverAnswers,
    Rule,
    Script,
    Serving,
)
from staticfire.engine.toml import load_script, parse_script
from staticfire.errors import WrongInput

WHOLE = """\
model = "qwen"            # a comment with = and [ and {
models = ["draft"]
tokens = 20
dev_mode = true
life = [
  { phase = "loading", for = "2min 52s", health = 503, listed = false, chat = "never answers" },
  { phase = "busy", requests = 3, chat = { fault = "answers", status = 429, retry_after = "1s" } },
  { phase = "dead", for = 5, reset = true },
  "serving",
]

[capacity]
slots = 4
queue = 8
first_token = "250ms"
per_token = 0.01

[[rule]]
on = "chat"
for = "8s"
do = { fault = "dribbles", bytes = 2, every = "1s", part = "head" }

[[rule]]
on = "GET /health"
do = { fault = "answers", status = 500, headers = { x-why = "a" }, body = { a = 1 } }
"""


def test_a_file_can_say_everything(tmp_path):
    """Every key of a script, in its TOML form."""
    file = tmp_path / "whole.toml"
    file.write_text(WHOLE)
    assert load_script(file) == Script(
        model="qwen",
        models=["draft"],
        tokens=20,
        dev_mode=True,
        life=[
            Loading(seconds=172, health=503, listed=False, chat=NeverAnswers()),
            Busy(requests=3, chat=Answers(429, retry_after=1)),
            Dead(seconds=5, reset=True),
            Serving(),
        ],
        capacity=Capacity(4, 8, 0.25, 0.01),
        rules=[
            Rule("chat", Dribbles(2, 1.0, "head"), seconds=8),
            Rule("GET /health", Answers(500, headers=(("x-why", "a"),), body='{"a": 1}')),
        ],
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('model = "qwen"', "modell = 1", 'x:1: modell: expected one of the keys model, .*did you mean "model"'),
        ('model = "qwen"', "model = 1", "x:1: model: expected text, found 1"),
        ("tokens = 20", 'tokens = "a"', "x:3: tokens: expected a whole number, found 'a'"),
        ("tokens = 20", "tokens = ", "x:3: expected TOML, found Invalid value"),
        ('["draft"]', "[1]", "x:2: models: expected text, found 1"),
        ('phase = "busy"', 'phase = "bussy"', r'x:7: life\[1\].phase: .*did you mean "busy"'),
        ('"serving",', '"servin",', r"x:9: life\[3\].*: expected the name of a phase"),
        ('"2min 52s"', '"2 fortnights"', r"x:6: life\[0\].for: expected a duration"),
        ("requests = 3", "request = 3", r'x:7: life\[1\].request: .*did you mean "requests"'),
        ("requests = 3", "requests = 0", r"x:7: life\[1\].requests: expected at least one request"),
        ("listed = false", "listed = 3", r"x:6: life\[0\].listed: expected a table, found 3"),
        ("status = 429", "status = 42", r"x:7: life\[1\].chat.status: expected a status of three"),
        ("status = 429,", "", r'x:7: life\[1\].chat: expected the field "status"'),
        ('"never answers"', '"never answer"', r'x:6: life\[0\].chat: .*did you mean "never answers"'),
        ("slots = 4", "slots = 0", "x:13: capacity.slots: expected at least 1, found 0"),
        ("queue = 8", "que = 8", 'x:14: capacity.que: .*did you mean "queue"'),
        ('for = "8s"', 'fro = "8s"', r'x:20: rule\[0\].fro: .*did you mean "for"'),
        ('on = "chat"', 'on = "chatt"', r'x:19: rule\[0\].on: .*did you mean "chat"'),
        ('on = "chat"', "", r'x:18: rule\[0\]: expected the key "on"'),
        ("bytes = 2", 'bytes = "2"', r"x:21: rule\[0\].do.bytes: expected a whole number"),
        ('part = "head"', 'part = "hed"', r'x:21: rule\[0\].do.part: .*did you mean "head"'),
        ('fault = "answers", status = 500', 'fault = "anwers", status = 500', r'x:25: rule\[1\].do.fault: .*did you mean "answers"'),
        ("{ x-why", "handlers = { x-why", "x:25: expected TOML"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_line_key_and_nearest(old, new, message):
    """Every wrong value is one error: file:line: key: expected, found, what to do."""
    assert old in WHOLE
    with pytest.raises(WrongInput, match=f"^{message}"):
        parse_script(WHOLE.replace(old, new, 1), "x")


def test_an_unreadable_file_is_named(tmp_path):
    """A path that cannot be read is one error with the path."""
    with pytest.raises(WrongInput, match="expected a readable TOML file, found No such file"):
        load_script(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(WrongInput, match=r"bytes that are no UTF-8"):
        load_script(tmp_path / "bytes.toml")


def test_an_unknown_handler_is_named_with_its_line():
    """A handler that nobody registered is wrong at its place."""
    with pytest.raises(WrongInput, match=r"^x:2: handlers: "):
        parse_script('model = "a"\nhandlers = ["nope"]', "x")
