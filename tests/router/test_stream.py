"""What a passing answer tells, whatever way it was cut."""

from __future__ import annotations

import asyncio
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from staticfire.clock.virtual import run
from staticfire.router.stream import Silence, Witness
from staticfire.wire import Head

TOKEN = b'data: {"choices":[{"delta":{"content":"an error? no"}}]}\n\n'
PLAIN = b'data: {"choices":[]}\n\n'
ERROR = b'data: {"error":{"message":"busy","code":503}}\n\n'
NAMED = b"event: error\r\ndata: boom\r\n\r\n"


def head(status=200, kind=b"text/event-stream; charset=utf-8"):
    return Head(status, ((b"Content-Type", kind),), "chunked", None)


@pytest.mark.parametrize(
    ("stream", "event"),
    [
        (PLAIN + TOKEN + PLAIN, None),
        (PLAIN + ERROR + b"data: [DONE]\n\n", 503),
        (TOKEN + NAMED + ERROR, 500),
        (PLAIN + b"event: error\n" + b"data: x", 500),
        (PLAIN + b"event:\n\n" + b": comment\n\n", None),
        (PLAIN + b"event: error\n\n" + PLAIN, None),
    ],
)
@given(cuts=st.lists(st.integers(0, 200), max_size=8))
def test_first_error_event(stream, event, cuts):
    """The first error event decides, wherever the bytes were cut."""
    witness = Witness(head())
    places = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    for start, end in itertools.pairwise(places):
        witness.see(stream[start:end])
    witness.end()
    assert witness.event == event
    assert witness.body() == b""


def test_event_by_event():
    """A stream read event by event, as it mostly is, gives the same."""
    witness = Witness(head())
    for event in (PLAIN, TOKEN, PLAIN, b"data: a\n\n", ERROR, PLAIN):
        witness.see(event)
    assert witness.event == 503


def test_body_of_an_error():
    """Of a 5xx the body is kept, up to a limit; of a good answer nothing is."""
    bad, good = Witness(head(500, b"application/json")), Witness(head(200, b"application/json"))
    for _ in range(100):
        bad.see(b"x" * 1000)
    assert 65_000 < len(bad.body()) < 67_000
    assert bad.watching
    assert not good.watching


def test_event_stream_with_an_error_status():
    """A 500 that calls itself a stream is judged by its status and body, not by events."""
    witness = Witness(head(500))
    witness.see(ERROR)
    assert (witness.event, witness.body()) == (None, ERROR)


def test_silence():
    """Silence is told once, at exactly the limit after the last movement."""
    told = []

    async def main():
        loop = asyncio.get_running_loop()
        silence = Silence(10, lambda: told.append(loop.time()))
        for _ in range(4):
            await asyncio.sleep(7)
            silence.touch()
        await asyncio.sleep(100)
        stopped = Silence(10, lambda: told.append(-1))
        stopped.stop()
        await asyncio.sleep(100)

    run(main())
    assert told == [38.0]
