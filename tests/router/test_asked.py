"""What a request asks for."""

from __future__ import annotations

import json

import pytest

from staticfire.errors import WrongInput
from staticfire.router.asked import DEEPEST, Asked, Reader, renamed
from staticfire.router.errors import Failure
from staticfire.router.sessions import header_names
from staticfire.wire import Request

PLAIN = Reader()
SESSIONS = Reader(headers=header_names("x-session-id, x-user-id"), session=True)
PROMPTS = Reader(prompt=True)


def read(reader, body, *headers):
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = Request(b"POST", b"/v1/chat/completions", "1.1", headers, body, keep=True)
    return reader.read(request, b"/v1/chat/completions")


@pytest.mark.parametrize("reader", [PLAIN, SESSIONS, PROMPTS])
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "invalid_json"),
        (b"{", "invalid_json"),
        (b'{"model": "qwen"} x', "invalid_json"),
        (b'{"model": "q", "x": "\xff"}', "invalid_json"),
        (b"[]", "invalid_request"),
        (b'"qwen"', "invalid_request"),
        (b"null", "invalid_request"),
        (b'{"model": 7}', "invalid_request"),
        (b'{"stream": "yes"}', "invalid_request"),
        (b'{"x": %s1%s}' % (b"[" * DEEPEST, b"]" * DEEPEST), "invalid_json"),
        (b'{"x": %s}' % (b"[" * 100_000), "invalid_json"),
    ],
)
def test_what_is_no_request_is_400(reader, body, code):
    """Whatever fields are read, the same is refused, and no worker sees it."""
    found = read(reader, body)
    assert isinstance(found, Failure)
    assert (found.status, found.code) == (400, code)


@pytest.mark.parametrize("reader", [PLAIN, SESSIONS, PROMPTS])
@pytest.mark.parametrize(
    "body",
    [
        b'{"model": null, "stream": null}',
        b'{"n": 1%s, "unknown": {"a": [1e400]}}' % (b"0" * 400),
        b'{"user": 7, "session_id": [], "session_params": 1, "messages": "x", "prompt": [1, 2]}',
        b'{"x": %s1%s}' % (b"[" * (DEEPEST - 1), b"]" * (DEEPEST - 1)),
        b'{"x": [%s]}' % b",".join([b'{"a": ["]]]", {}]}'] * 1000),
        b'{"x": "%s"}' % (b'[{\\"' * 1000),
    ],
)
def test_what_engines_judge_passes(reader, body):
    """Unknown fields, odd types of fields we do not need, big numbers: the engine's affair."""
    assert isinstance(read(reader, body), Asked)


def test_model_and_stream():
    """The two fields that every request is read for."""
    found = read(PLAIN, {"model": "qwen", "stream": True})
    assert (found.model, found.stream, found.session, found.prompt) == ("qwen", True, None, b"")


@pytest.mark.parametrize(
    ("headers", "body", "session"),
    [
        ([], {}, None),
        ([(b"X-Session-Id", b"h")], {"session_id": "b"}, "h"),
        ([(b"x-user-id", b"u"), (b"x-session-id", b"h")], {}, "h"),
        ([(b"x-user-id", b"u"), (b"x-session-id", b"")], {}, "u"),
        ([(b"x-request-id", b"r"), (b"x-correlation-id", b"c")], {}, None),
        ([(b"x-request-id", b"r")], {"session_id": "b"}, "b"),
        ([], {"session_params": {"session_id": "p"}, "session_id": "b", "user": "u"}, "p"),
        ([], {"user": "u", "session_id": "b"}, "b"),
        ([], {"user": "u", "prompt_cache_key": "k"}, "k"),
        ([], {"conversation": {"id": "c"}, "user": "u"}, "c"),
        ([], {"conversation": "c"}, "c"),
        ([], {"session_id": 7}, "7"),
        ([], {"session_id": "", "user": "u"}, "u"),
        ([], {"session_id": True, "session_params": [], "user": {"id": 1}}, None),
    ],
)
def test_session(headers, body, session):
    """Headers in their order, then fields of the body; never a request id (B061)."""
    assert read(SESSIONS, body, *headers).session == session


@pytest.mark.parametrize("name", ["x-request-id", "X-Correlation-Id", "traceparent"])
def test_a_request_id_is_no_session(name):
    """A setting that would scatter every session is refused, with the reason."""
    with pytest.raises(WrongInput, match="change with every request"):
        header_names(f"x-session-id, {name}")


@pytest.mark.parametrize(
    ("body", "prompt"),
    [
        ({"messages": [{"role": "user", "content": "hi"}]}, b'[{"role": "user", "content": "hi"}]'),
        ({"prompt": "hi"}, b'"hi"'),
        ({"instructions": "be kind", "input": "hi"}, b'"be kind""hi"'),
        ({"system": "be kind", "messages": []}, b'"be kind"[]'),
        ({"max_tokens": 1}, b""),
    ],
)
def test_prompt(body, prompt):
    """The text by whose beginning engines cache, what is said before the messages first."""
    assert read(PROMPTS, body).prompt == prompt


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"model": "m"}', b'{"model": "a"}'),
        (b'{ "x" : {"model":"m"} , "model" : "m" ,"n":1.0 }', b'{ "x" : {"model":"m"} , "model" : "a" ,"n":1.0 }'),
        (b'{"model":"1","y":"model","model":"2"}', b'{"model":"a","y":"model","model":"a"}'),
        (b'{"m\\u006fdel":"m","s":"\\"model\\": {"}', b'{"m\\u006fdel":"a","s":"\\"model\\": {"}'),
        (b'{"x": ["model", "m"]}', b'{"x": ["model", "m"]}'),
    ],
)  # fmt: skip
def test_an_alias_changes_the_models_value_only(body, expected):
    """Every other byte stays: spaces, numbers, texts that look alike."""
    assert renamed(body, "a") == expected


def test_a_name_is_written_as_json():
    """A model's name may hold quotes."""
    assert json.loads(renamed(b'{"model": "m"}', 'a"b\\')) == {"model": 'a"b\\'}
