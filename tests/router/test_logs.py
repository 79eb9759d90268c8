"""The router's log: a line for a request that failed, with its id."""

from __future__ import annotations

import io
import json
import logging

import pytest

from staticfire.clock.virtual import run
from staticfire.router.logs import JsonLines, Requests, TextLines


@pytest.fixture
def lines():
    """The log as JSON lines, and as text."""
    streams = {"json": io.StringIO(), "text": io.StringIO()}
    logger = logging.getLogger("staticfire.router")
    handlers = [logging.StreamHandler(stream) for stream in streams.values()]
    handlers[0].setFormatter(JsonLines())
    handlers[1].setFormatter(TextLines())
    level = logger.level
    logger.setLevel(logging.INFO)
    for handler in handlers:
        logger.addHandler(handler)
    yield streams
    for handler in handlers:
        logger.removeHandler(handler)
    logger.setLevel(level)


def requests(lines):
    """The JSON lines that tell of a request."""
    told = [json.loads(line) for line in lines["json"].getvalue().splitlines()]
    return [line for line in told if line["message"] == "request"]


def asked(raw, lines, which, *plays):
    """One request for each play of the worker, with ids r0, r1 …; what the log says of them."""

    async def main():
        worker = raw.Worker()
        async with raw.stand(worker, disable_retries=True) as stand:
            stand.router._requests = Requests(which)
            for number, play in enumerate(plays):
                worker.chat = play
                client = await stand.connect()
                await client.ask(
                    b'{"model":"qwen","x":"secret-prompt"}',
                    b"X-Request-Id: r%d" % number,
                    b"Authorization: Bearer secret-key",
                    path=b"/v1/chat/completions?token=secret-query",
                )

    run(main())
    return requests(lines)


def test_who_failed_gets_a_line(raw, lines):
    """By default: a 5xx is told with all that helps to find it, a success is not."""
    (failed,) = asked(raw, lines, "failed", raw.whole(200), raw.whole(500), raw.whole(400))
    assert failed["request_id"] == "r1"
    assert (failed["level"], failed["status"], failed["whole"]) == ("warning", 500, True)
    assert (failed["model"], failed["worker"], failed["attempts"]) == ("qwen", "w00", 1)
    assert (failed["method"], failed["path"]) == ("POST", "/v1/chat/completions")
    assert failed["seconds"] >= 0
    assert failed["time"].endswith("Z")


@pytest.mark.parametrize(("which", "count"), [("all", 3), ("failed", 1), ("none", 0)])
def test_how_many_lines(raw, lines, which, count):
    """All requests, those that failed, or none."""
    assert len(asked(raw, lines, which, raw.whole(200), raw.whole(500), raw.whole(200))) == count


def test_our_own_errors_are_told_by_their_code(raw, lines):
    """A failure that the router tells carries its code into the log."""

    async def close(reader, writer):
        writer.close()

    (failed,) = asked(raw, lines, "failed", close)
    assert (failed["status"], failed["error"]) == (502, "worker_cut")


def test_no_secret_is_logged(raw, lines):
    """Neither the query, nor a header, nor the body, nor a worker's address."""
    asked(raw, lines, "all", raw.whole(500), raw.whole(200))
    for stream in lines.values():
        assert "r0" in stream.getvalue()
        assert "secret" not in stream.getvalue()
        assert "127.0.0.1" not in stream.getvalue()


def test_text_has_the_same_fields(raw, lines):
    """One line of text a request, with the fields as name=value."""
    asked(raw, lines, "failed", raw.whole(503))
    (line,) = (line for line in lines["text"].getvalue().splitlines() if "request_id" in line)
    assert " WARNING request request_id=r0 method=POST" in line
    assert " status=503 " in line
    assert "error=" not in line, "what is empty is left out"


def test_json_of_any_record(lines):
    """Every line is one JSON object, an exception with its traceback in it too."""
    log = logging.getLogger("staticfire.router.test")
    try:
        raise ValueError("bad\nthing")
    except ValueError:
        log.exception("it failed on %s", "w00")
    (line,) = lines["json"].getvalue().splitlines()
    told = json.loads(line)
    assert (told["level"], told["message"]) == ("error", "it failed on w00")
    assert "ValueError: bad\nthing" in told["exception"]
