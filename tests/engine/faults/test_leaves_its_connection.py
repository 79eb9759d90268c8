"""Tests of the fault `leaves its connection`."""

from __future__ import annotations

import asyncio

import pytest

from staticfire.clock.virtual import run
from staticfire.engine import LeavesItsConnection, MockEngine, Rule, Script
from staticfire.errors import WrongInput


def two_requests(http, fault, gap, patience=60.0):
    """What a client hears after its first answer, when it asks again `gap` seconds later."""

    async def main():
        async with MockEngine(Script(rules=[Rule("chat", fault, times=1)])) as engine:
            reader, writer = await asyncio.open_connection("127.0.0.1", engine.port)
            writer.write(http.chat(close=False))
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
            await reader.readexactly(length)
            assert b"connection: close" not in head
            await asyncio.sleep(gap)
            closed = reader.at_eof()
            writer.write(http.chat())
            heard = await http.listen(reader, patience=patience)
            writer.close()
            return closed, heard, engine

    return run(main())


@pytest.mark.parametrize(
    ("how", "ended"), [("closes next", "fin"), ("resets next", "reset"), ("silent", "open")]
)
def test_the_next_request_gets_no_answer(http, how, ended):
    """The first answer is honest and kept alive; the next request meets the named end."""
    closed, heard, engine = two_requests(http, LeavesItsConnection(how), 1.0)
    assert (closed, heard.data, heard.ended) == (False, b"", ended)
    assert [request.ended for request in engine.journal.requests()] == ["whole"]


def test_it_closes_after_its_own_idle_time(http):
    """A FIN comes after `seconds` of idleness; a request before them is answered."""
    fault = LeavesItsConnection("closes", 1.0)
    assert two_requests(http, fault, 1.5)[0]
    _, heard, _ = two_requests(http, fault, 0.5)
    assert heard.status == 200


def test_without_seconds_it_closes_at_once(http):
    """The FIN follows the answer, which did not announce it."""
    assert two_requests(http, LeavesItsConnection("closes"), 1e-6)[0]


def test_a_silent_connection_outlasts_the_engine_s_idle_time(http):
    """The five seconds after which vLLM closes do not end the silence."""
    closed, heard, _ = two_requests(http, LeavesItsConnection("silent"), 100.0, patience=100.0)
    assert (closed, heard.ended) == (False, "open")


@pytest.mark.parametrize("fields", [{"how": "sulks"}, {"how": "silent", "seconds": 1.0}])
def test_what_it_cannot_do_is_refused(fields):
    """An unknown way, and a time where no time is waited for."""
    with pytest.raises(WrongInput, match="leaves its connection"):
        LeavesItsConnection(**fields)
