"""The router on uvloop behaves as on asyncio's own loop."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys

import pytest

from staticfire.cli import main
from staticfire.engine import (
    ClosesWithoutAnswering,
    LeavesItsConnection,
    MockEngine,
    Rule,
    Script,
    Truncates,
)
from staticfire.judge import End, Judge

pytestmark = pytest.mark.realtime
pytest.importorskip("uvloop")

COMMAND = "import sys; from staticfire.cli import main; sys.argv[0] = 'staticfire'; main()"
CHAT = {"model": "qwen", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 8}


async def _behind(rules, ask):
    """What `ask(judge)` returns, asked of a router process on uvloop before one engine."""
    engine = MockEngine(Script(model="qwen"))
    await engine.start()
    words = [sys.executable, "-c", COMMAND, "router", "--worker-urls", engine.url, "--port", "0"]
    process = await asyncio.create_subprocess_exec(
        *words, "--loop", "uvloop", "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        judge = Judge(json.loads(await process.stdout.readline())["url"])
        while (await judge.ask("GET", "/readiness")).status != 200:
            await asyncio.sleep(0.02)
        for rule in reversed(rules):  # the newest is played first; after the probe of readiness
            engine.add_rule(rule)
        return await ask(judge)
    finally:
        process.send_signal(signal.SIGTERM)
        _, said = await process.communicate()
        await engine.stop()
        assert process.returncode == 0, said
        assert b"Traceback" not in said, said


async def _chat(judge, **more):
    kind = (("content-type", "application/json"),)
    body = json.dumps(CHAT | more).encode()
    return await judge.ask("POST", "/v1/chat/completions", headers=kind, body=body)


def test_answers_whole():
    """JSON and streams arrive whole."""

    async def ask(judge):
        return [
            await _chat(judge),
            await _chat(judge, stream=True),
        ]

    plain, stream = asyncio.run(_behind((), ask))
    assert (plain.status, plain.end) == (200, End.WHOLE)
    assert (stream.status, stream.end) == (200, End.WHOLE)
    assert stream.body.endswith(b"data: [DONE]\n\n")


@pytest.mark.parametrize("reset", [False, True])
def test_a_cut_stays_a_cut(reset):
    """A stream that breaks off is seen to break off."""
    rule = Rule("POST /v1/chat/completions", do=Truncates(events=2, reset=reset), times=1)

    async def ask(judge):
        return await _chat(judge, stream=True)

    answer = asyncio.run(_behind((rule,), ask))
    assert answer.status == 200
    assert answer.end is not End.WHOLE


def test_a_dead_idle_connection_is_replaced():
    """An idle connection that the engine closed costs no client anything; a request that it took does."""
    rules = (
        Rule("POST /v1/chat/completions", do=LeavesItsConnection("closes"), times=1),
        Rule("POST /v1/chat/completions", do=ClosesWithoutAnswering(), times=1),
    )

    async def ask(judge):
        return [await _chat(judge) for _ in range(3)]

    first, second, third = asyncio.run(_behind(rules, ask))
    assert (first.status, third.status) == (200, 200)
    assert second.status == 502  # it may have begun, so it is not sent twice


def test_a_loop_that_is_not_there(monkeypatch):
    """--loop uvloop without uvloop says how to get it."""
    from click.testing import CliRunner

    monkeypatch.setitem(sys.modules, "uvloop", None)
    result = CliRunner().invoke(main, ["router", "--worker-urls", "http://127.0.0.1:1", "--loop", "uvloop"])  # fmt: skip
    assert result.exit_code == 2
    assert "staticfire[fast]" in result.output
