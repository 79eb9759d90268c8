"""The accept rules as a table."""

from __future__ import annotations

import json

import pytest

from staticfire.clock import NS
from staticfire.errors import WrongInput
from staticfire.readiness.accept import Asked, Failure, judge, judge_failure, retry_after
from staticfire.readiness.verdict import Verdict
from staticfire.wire import Reply

ASKED = Asked("qwen", ("qwen-alias",))
S, B, M, X = Verdict.SERVING, Verdict.BUSY, Verdict.MISCONFIGURED, Verdict.BROKEN
OK = {"model": "qwen", "choices": [{"message": {"content": None}}]}


def answer(status: int, body: object = b"", headers=()) -> Reply:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Reply(status, tuple(headers), data)


TABLE = [
    ("a completion", answer(200, OK), (S, S, S)),
    ("empty content", answer(200, {**OK, "choices": [{"message": {"content": ""}}]}), (S, S, S)),
    ("an alias", answer(200, {**OK, "model": "qwen-alias"}), (S, S, S)),
    ("a revision", answer(200, {**OK, "model": "qwen@main"}), (S, S, S)),
    ("no model named", answer(200, {"choices": [{}]}), (S, S, M)),
    ("another model", answer(200, {**OK, "model": "phi"}), (S, M, M)),
    ("no choices", answer(200, {"model": "qwen"}), (S, M, M)),
    ("empty choices", answer(200, {**OK, "choices": []}), (S, M, M)),
    ("an error object", answer(200, {"error": {"message": "no"}}), (S, M, M)),
    ("a flat error", answer(200, {"object": "error", "message": "no", "code": 400}), (S, M, M)),
    ("an error string", answer(200, {"error": "scaling"}), (S, M, M)),
    ("a busy error in a 200", answer(200, {"error": {"code": 503}}), (S, B, B)),
    ("a page", answer(200, b"<!doctype html>"), (S, M, M)),
    ("nothing", answer(204), (S, M, M)),
    ("events", answer(200, b'data: {"choices":[{}]}\n\n'), (S, M, M)),
    ("301", answer(301), (S, M, M)),
    ("307", answer(307), (S, M, M)),
    ("400", answer(400, {"error": {"message": "max_tokens"}}), (S, S, M)),
    ("401", answer(401), (S, M, M)),
    ("403", answer(403), (S, M, M)),
    ("404", answer(404), (S, M, M)),
    ("405", answer(405), (S, M, M)),
    ("408", answer(408), (S, B, B)),
    ("413", answer(413), (S, S, M)),
    ("422", answer(422), (S, S, M)),
    ("425", answer(425), (S, B, B)),
    ("429", answer(429), (S, B, B)),
    ("500", answer(500), (X, X, X)),
    ("502", answer(502), (X, X, X)),
    ("503", answer(503), (B, B, B)),
    ("504", answer(504), (X, X, X)),
]


@pytest.mark.parametrize(("name", "reply", "verdicts"), TABLE, ids=[row[0] for row in TABLE])
def test_each_rule_on_each_reply(name, reply, verdicts):
    """What answered, proven and strict say, cell by cell."""
    rules = ("answered", "proven", "strict")
    assert tuple(judge(rule, reply, ASKED).verdict for rule in rules) == verdicts


def test_embeddings_need_data():
    """An embeddings answer holds `data`, and no choices."""
    asked = Asked("qwen", holds="data")
    assert judge("proven", answer(200, {"data": [{}]}), asked).verdict is S
    assert judge("proven", answer(200, OK), asked).verdict is M


def test_the_reason_names_both_models():
    """A foreign model is told with the one that was asked for."""
    reason = judge("proven", answer(200, {**OK, "model": "phi"}), ASKED).reason
    assert "phi" in reason
    assert "qwen" in reason


def test_the_reason_quotes_the_engine_on_one_line():
    """The engine's own words are shown, short and without control characters."""
    body = {"error": {"message": "no\nsuch \x1b[31mmodel " + "x" * 500}}
    reason = judge("proven", answer(404, body), ASKED).reason
    assert "no such ?[31mmodel" in reason
    assert len(reason) < 250


@pytest.mark.parametrize(
    ("failure", "listed", "verdict"),
    [
        (Failure("refused", connected=False, refused=True), True, Verdict.UNREACHABLE),
        (Failure("no connection within 8 s", connected=False, hung=True), True,
         Verdict.UNREACHABLE),
        (Failure("no whole answer within 8 s", connected=True, hung=True), True, Verdict.LISTING),
        (Failure("no whole answer within 8 s", connected=True, hung=True), False, X),
        (Failure("cut", connected=True), True, X),
    ],
)  # fmt: skip
def test_a_failure_is_told_by_how_far_it_came(failure, listed, verdict):
    """Unreachable before the connect, listing when a listed model hung, else broken."""
    assert judge_failure(failure, listed=listed).verdict is verdict


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b"30", 30 * NS),
        (b" 2 ", 2 * NS),
        (b"0", 0),
        (b"1.5", 3 * NS // 2),
        (b"Thu, 01 Jan 1970 00:01:40 GMT", 90 * NS),
        (b"Thu, 01 Jan 1970 00:00:01 GMT", 0),
        (b"soon", None),
        (b"-1", None),
        (b"\xb2", None),
        (b"9" * 400, None),
        (b".", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value, expected):
    """What cannot be read is not obeyed; a date in the past is now."""
    assert retry_after(answer(503, headers=((b"retry-after", value),)), wall=10.0) == expected


def test_an_unknown_rule_is_named():
    """The nearest rule is offered."""
    with pytest.raises(WrongInput, match='did you mean "strict"'):
        judge("strickt", answer(200), ASKED)
