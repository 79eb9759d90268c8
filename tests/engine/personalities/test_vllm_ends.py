"""How vLLM's answers end when the engine is told to, and what its legs tell each other."""

from __future__ import annotations

import asyncio
import json

import pytest

from staticfire.clock.virtual import run
from staticfire.engine import Capacity, MockEngine, Rule, Script
from staticfire.engine.faults import Truncates


async def told_to_end(http, script, asks, after):
    """What clients hear of an engine that is told to end `after` seconds."""
    async with MockEngine(script) as engine:
        tasks = [asyncio.create_task(http.talk(engine, ask)) for ask in asks]
        await asyncio.sleep(after)
        engine.terminate()
        health = await http.talk(engine, http.get("/health"))
        heard = [await task for task in tasks]
        began = asyncio.get_running_loop().time()
        while engine.phase().name != "dead":
            await asyncio.sleep(0.1)
        return heard, health.status, asyncio.get_running_loop().time() - began


def test_sigterm_gives_partial_answers(http):
    """JSON ends at once as a whole 200 with what was said; a stream with `[DONE]`, no finish reason."""
    script = Script(capacity=Capacity(per_token=1.0), tokens=20)
    asks = [http.chat(max_tokens=20), http.chat(max_tokens=20, stream=True)]
    (plain, stream), _, gone = run(told_to_end(http, script, asks, 5.5))
    told = plain.json()
    assert (plain.status, plain.lasted, stream.lasted) == (200, 5.5, 5.5)
    assert (told["usage"]["completion_tokens"], told["choices"][0]["finish_reason"]) == (6, "abort")
    assert stream.events[-1] == b"data: [DONE]"
    assert b'"finish_reason":"' not in stream.body
    assert stream.data.endswith(b"0\r\n\r\n")
    assert len(stream.events) == 1 + 6 + 1
    assert gone < 0.5


def test_sigterm_ends_what_waits_with_nothing_said(http):
    """A queued stream gets its role and `[DONE]`, a queued JSON answer an empty text (captured)."""
    script = Script(capacity=Capacity(slots=1, per_token=1.0))
    asks = [http.chat(), http.chat(stream=True), http.chat()]
    (_, stream, plain), _, _ = run(told_to_end(http, script, asks, 1.0))
    assert len(stream.events) == 2
    assert b'"delta":{"role":"assistant","content":""}' in stream.events[0]
    assert plain.json()["usage"]["completion_tokens"] == 0


def test_with_a_shutdown_timeout_answers_go_on(http):
    """Health keeps saying 200, new chats are shed, what is on its way ends well."""
    script = Script(capacity=Capacity(per_token=1.0), flags=["--shutdown-timeout 20"])
    heard, health, gone = run(told_to_end(http, script, [http.chat(stream=True)], 1.0))
    assert health == 200
    assert b'"finish_reason":"length"' in heard[0].body
    assert 15 < gone < 20.5


def test_an_answer_that_a_fault_alters_is_cut(http):
    """Last words are an honest answer's; a faulty one just ends."""
    rule = Rule("chat", Truncates(events=50))

    async def main():
        script = Script(capacity=Capacity(per_token=1.0), rules=[rule])
        async with MockEngine(script) as engine:
            ask = asyncio.create_task(http.talk(engine, http.chat(max_tokens=9, stream=True)))
            await asyncio.sleep(3.5)
            engine.terminate()
            return await ask

    heard = run(main())
    assert heard.lasted == 3.5
    assert not heard.data.endswith(b"0\r\n\r\n")


def test_request_ids_are_echoed_with_their_flag(http):
    """Each answer carries the request's id, or one of its own; without the flag none does."""
    named = http.chat(headers=("X-Request-Id: abc-123",))

    async def main(flags):
        async with MockEngine(Script(flags=flags)) as engine:
            return [(await http.talk(engine, ask)).head for ask in (named, http.get("/health"))]

    echoed, made = run(main(["--enable-request-id-headers"]))
    assert b"\r\nx-request-id: abc-123" in echoed
    assert len(made.split(b"x-request-id: ")[1].split(b"\r\n")[0]) == 32
    assert not any(b"x-request-id" in head for head in run(main([])))


PREFILL = {"do_remote_decode": True, "do_remote_prefill": False, "remote_engine_id": None}


@pytest.mark.parametrize("asked", [PREFILL, {"do_remote_prefill": True}, None])
def test_a_prefill_leg_tells_the_decode_leg_where_its_blocks_are(http, asked):
    """Asked for a remote decode it answers with transfer parameters; otherwise with null."""

    async def main():
        async with MockEngine(name="prefill") as engine:
            return await http.talk(engine, http.chat(max_tokens=1, kv_transfer_params=asked))

    told = json.loads(run(main()).body)["kv_transfer_params"]
    if asked is PREFILL:
        assert (told["do_remote_prefill"], told["do_remote_decode"]) == (True, False)
        assert told["remote_engine_id"].startswith("prefill-")
        assert told["remote_block_ids"][0]
    else:
        assert told is None
