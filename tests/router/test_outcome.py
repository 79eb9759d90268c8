"""What an ended attempt says about its worker."""

from __future__ import annotations

import pytest

from staticfire.router.outcome import Ended, Outcome, classify, declared_status, event_status

STATUSES = [
    (200, "success"), (204, "success"), (302, "success"), (399, "success"),
    (400, "client_error"), (401, "client_error"), (404, "client_error"), (408, "client_error"),
    (422, "client_error"), (499, "client_error"),
    (429, "backpressure"), (503, "backpressure"), (529, "backpressure"),
    (500, "error"), (501, "error"), (502, "error"), (504, "error"), (599, "error"),
]  # fmt: skip


@pytest.mark.parametrize(("status", "name"), STATUSES)
def test_whole(status, name):
    """A whole answer is judged by its status."""
    assert classify(Ended("whole", status)) is Outcome[name]


@pytest.mark.parametrize(("status", "name"), STATUSES)
def test_cut_is_an_error(status, name):
    """An answer that ends before its framing says so is an error, whatever its status."""
    assert classify(Ended("cut", status)) is Outcome.error


def test_failed_is_an_error():
    """Transport errors, timeouts and an unusable URL are errors."""
    assert classify(Ended("failed")) is Outcome.error


@pytest.mark.parametrize("status", [0, 200, 500, 503])
def test_cancelled_is_no_verdict(status):
    """A client that leaves says nothing about the worker."""
    assert classify(Ended("cancelled", status)) is Outcome.cancelled


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (b'{"error": {"message": "too long", "code": 400}}', "client_error"),
        (b'{"object": "error", "code": 422}', "client_error"),
        (b'{"error": {"code": "404"}}', "client_error"),
        (b'{"error": {"code": 500}}', "error"),
        (b'{"error": {"code": 503}}', "error"),
        (b'{"error": {"code": "context_length"}}', "error"),
        (b'{"error": "400"}', "error"),
        (b'{"error": {"code": true}}', "error"),
        (b'{"error": {"code": 400', "error"),
        (b"[400]", "error"),
        (b"", "error"),
        (b"[" * 100_000, "error"),
        (b"[" * 5_000, "error"),
        (b'{"error": {"code": 400, "x": "' + b"y" * 70_000 + b'"}}', "error"),
    ],
)
def test_body_that_declares_a_client_error(body, name):
    """A 500 whose body itself declares a 4xx code is the client's error; nothing else is."""
    assert classify(Ended("whole", 500, body)) is Outcome[name]


def test_backpressure_status_needs_no_body():
    """A 503 is backpressure, whatever its body declares."""
    assert classify(Ended("whole", 503, b'{"error": {"code": 400}}')) is Outcome.backpressure


@pytest.mark.parametrize(
    ("event", "name"),
    [(None, "success"), (503, "backpressure"), (429, "backpressure"), (500, "error"), (400, "client_error")],
)  # fmt: skip
def test_stream_is_judged_by_its_error_event(event, name):
    """A stream of a 200 is what its error event says, which may be backpressure."""
    assert classify(Ended("whole", 200, event=event)) is Outcome[name]


def test_cut_wins_over_an_event():
    """A stream that sent an error event and was then cut is an error."""
    assert classify(Ended("cut", 200, event=503)) is Outcome.error


def test_the_set_is_a_setting():
    """What counts as backpressure can be set."""
    assert classify(Ended("whole", 500), frozenset((500,))) is Outcome.backpressure
    assert classify(Ended("whole", 503), frozenset((500,))) is Outcome.error
    assert classify(Ended("whole", 429), frozenset((503,))) is Outcome.client_error


@pytest.mark.parametrize(
    ("name", "data", "status"),
    [
        (b"", b'{"choices": []}', None),
        (b"", b"[DONE]", None),
        (b"", b'{"choices": [{"delta": {"content": "an \\"error\\" here"}}]}', None),
        (b"", b'{"error": null, "choices": []}', None),
        (b"", b'{"error": {"message": "m", "code": 503}}', 503),
        (b"", b'{"error": {"message": "m", "code": "429"}}', 429),
        (b"", b'{"error": {"message": "m"}}', 500),
        (b"", b'{"error": "boom"}', 500),
        (b"", b'{"object": "error", "message": "m", "code": 400}', 400),
        (b"error", b"boom", 500),
        (b"error", b'{"code": 503}', 503),
        (b"message", b"boom", None),
        (b"", b'"error"', None),
    ],
)
def test_error_events(name, data, status):
    """An error event is told from a token that only speaks of errors."""
    assert event_status(name, data) == status


def test_declared_status_range():
    """Only a status from 400 to 599 is one."""
    assert declared_status(b'{"code": 200}') is None
    assert declared_status(b'{"code": 600}') is None
    assert declared_status(b'{"status_code": 400}') == 400
