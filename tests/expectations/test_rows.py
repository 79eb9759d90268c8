"""Rows are read strictly, with the line of what is wrong."""

from __future__ import annotations

from datetime import date

import pytest

from staticfire.errors import WrongInput
from staticfire.expectations import parse
from staticfire.expectations.rows import matches

GOOD = """\
# known bugs
[["gate-opens"]]
when = { engine = "vllm", os = "linux" }
bug = "#12"
reason = "it opens early"

[[other_id]]
when = {}
bug = "EAI-1"
reason = "always"
raises = "boom"
kind = "environment"
serve_timeout_secs = 240
flaky = true
until = 2027-01-31

  [["gate-opens"]]
when = { gpu = true }
bug = "#13"
reason = "on a GPU it opens late"
"""


def test_a_file_is_read_in_its_order_with_its_lines():
    """Rows keep the file's order over all ids; each knows its line."""
    rows = parse(GOOD, where="x.toml")
    assert [(r.scenario, r.bug, r.where) for r in rows] == [
        ("gate-opens", "#12", "x.toml:2"),
        ("other_id", "EAI-1", "x.toml:7"),
        ("gate-opens", "#13", "x.toml:17"),
    ]


def test_every_key_is_read():
    """Each key arrives in its type; what is left out has its default."""
    first, second, third = parse(GOOD)
    assert dict(first.when) == {"engine": "vllm", "os": "linux"}
    assert (first.raises, first.kind, first.serve_timeout_secs) == (None, "product", None)
    assert (first.flaky, first.until) == (False, None)
    assert (second.raises, second.kind, second.serve_timeout_secs) == ("boom", "environment", 240)
    assert (second.flaky, second.until) == (True, date(2027, 1, 31))
    assert dict(third.when) == {"gpu": True}


def test_no_rows_is_a_file():
    """The bundled router has none."""
    assert parse("# none\n") == ()


def row(**changes: str) -> str:
    """A row as text, with keys replaced; None leaves one out."""
    keys = {"when": "{}", "bug": '"#1"', "reason": '"because"'} | changes
    return '\n[["an-id"]]\n' + "".join(f"{k} = {v}\n" for k, v in keys.items() if v)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[", "expectations.toml: expected TOML, found"),
        (
            '["an-id"]\nbug = "1"',
            'expectations.toml:1: expected a table [["an-id"]], found a table',
        ),
        ("an-id = 4", 'expected a table [["an-id"]], found a number'),
        (row(wen="{}"), '[["an-id"]]: expected a known key, found "wen"; did you mean "when"?'),
        (row(when=""), 'expected a "when", found none; write when = {}'),
        (row(bug=""), "bug: expected a ticket, found none"),
        (row(bug='" "'), "bug: expected a ticket, found an empty text"),
        (row(bug="12"), "bug: expected a ticket, found number"),
        (row(reason=""), "reason: expected a sentence, found none"),
        (row(when='"vllm"'), 'when: expected a table like { engine = "vllm" }, found text'),
        (row(when='{engin = "vllm"}'), 'known condition, found "engin"; did you mean "engine"?'),
        (row(when='{engine = ["a", "b"]}'), "when.engine: expected one name, found list"),
        (row(when="{os = true}"), "when.os: expected one name, found boolean"),
        (row(when="{gpu = 1}"), "when.gpu: expected one name or true or false, found number"),
        (row(kind='"prodct"'), "kind: expected one of product, spec, suite, environment"),
        (row(raises="4"), "raises: expected a text, found number"),
        (row(serve_timeout_secs='"90"'), "serve_timeout_secs: expected seconds above zero"),
        (row(serve_timeout_secs="0"), "serve_timeout_secs: expected seconds above zero, found 0"),
        (row(serve_timeout_secs="true"), "serve_timeout_secs: expected seconds above zero"),
        (row(serve_timeout_secs="nan"), "serve_timeout_secs: expected seconds above zero"),
        (row(flaky='"yes"'), "flaky: expected true or false, found 'yes'"),
        (row(flaky="true"), 'expected an "until" beside flaky, found none'),
        (row(until='"2027-01-31"'), "until: expected a day like 2027-01-31, without quotes"),
        (row(until="2027-01-31T00:00:00"), "until: expected a day like 2027-01-31"),
    ],
)
def test_a_wrong_row_is_told_with_its_place(text, told):
    """One error: place, expected, found, what to do."""
    with pytest.raises(WrongInput) as caught:
        parse(text)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_place_is_file_and_line():
    """The line is that of the row's head."""
    with pytest.raises(WrongInput, match=r'^my\.toml:4: \[\["an-id"\]\] bug: '):
        parse("# a\n\n" + row(bug=""), where="my.toml")


@pytest.mark.parametrize(
    ("key", "wanted", "found", "same"),
    [
        ("engine", "vLLM", "vllm", True),
        ("engine", "vllm", "sglang", False),
        ("os", "linux", "linux", True),
        ("gpu", True, "amd", True),
        ("gpu", True, True, True),
        ("gpu", True, "none", False),
        ("gpu", True, False, False),
        ("gpu", False, False, True),
        ("gpu", False, "none", True),
        ("gpu", False, "amd", False),
        ("gpu", "amd", "AMD", True),
        ("gpu", "amd", "nvidia", False),
        ("gpu", "amd", True, False),
        ("gpu", "none", False, True),
        ("gpu", "none", True, False),
    ],
)
def test_a_value_matches(key, wanted, found, same):
    """Names match without regard to case; a GPU is wanted by name or at all."""
    assert matches(key, wanted, found) is same
