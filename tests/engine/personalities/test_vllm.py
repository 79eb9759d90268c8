"""The golden test of the vLLM personality: a real server's answers, asked again of the mock."""

from __future__ import annotations

import asyncio

import pytest

import golden_questions
from golden import captured, compare
from staticfire.clock.virtual import run
from staticfire.engine import Capacity, MockEngine, Script

HEADS = {
    "date": "the clock's own time",
    "content-length": "checked against the body, whose ids and words differ",
}
"""Header fields whose values may differ, and why; `x-engine` is added: who answered."""

BODIES = [
    (rb'"(chatcmpl|cmpl|modelperm)-[0-9a-f]{16}"', rb'"\1-ID"', "ids are random"),
    (rb'"created":\d+', rb'"created":T', "the clock's own time"),
    (rb'"system_fingerprint":"vllm-0.32.0-[0-9a-f]{8}"', rb'"system_fingerprint":F', "run token"),
    (rb'"root":"[^"]*"', rb'"root":R', "a mock has no folder of weights"),
]
"""What may differ in a body, and why; spoken words are compared by their number."""


GOLDEN = captured("vllm-0.32.0.txt")


def chat(http, **fields):
    return golden_questions.chat(http, "tiny", **fields)


def questions(http):
    """Name → the request that was sent to the real server."""
    return golden_questions.questions(http, GOLDEN, "tiny", words=3000) | {
        "HEAD /health": http.request("HEAD", "/health"),
    }


def test_every_capture_has_a_question(http):
    """No captured answer is left out of the comparison."""
    rest = {name for name in GOLDEN if not name.startswith(("overload", "dev "))}
    assert rest == set(questions(http))


@pytest.mark.parametrize("name", [n for n in GOLDEN if not n.startswith(("overload", "dev "))])
def test_the_mock_answers_as_the_real_server_did(http, name):
    """Status, header names, case and order, JSON key order, errors and framing are the capture's."""

    async def main():
        async with MockEngine(Script(model="tiny", max_model_len=2048), name="mock") as engine:
            return await http.talk(engine, questions(http)[name])

    compare(name, run(main()), GOLDEN[name], BODIES, HEADS)


def test_overload_is_answered_as_the_real_server_did(http):
    """With one running and one waiting the next is shed at once, stream or not, counted by reason."""
    asks = {
        "overload plain": chat(http),
        "overload stream": chat(http, stream=True),
        "overload completions": http.request("POST", "/v1/completions", {"prompt": "hi"}),
    }

    async def main():
        script = Script(model="tiny", capacity=Capacity(slots=1, queue=1, per_token=3.0))
        async with MockEngine(script, name="mock") as engine:
            busy = [asyncio.create_task(http.talk(engine, chat(http))) for _ in range(2)]
            await asyncio.sleep(1)
            shed = {name: await http.talk(engine, ask) for name, ask in asks.items()}
            page = (await http.talk(engine, http.get("/metrics"))).body.decode()
            waited = [(await task).lasted for task in busy]
            after = (await http.talk(engine, http.get("/metrics"))).body.decode()
            return shed, page, waited, after

    shed, page, waited, after = run(main())
    for name, heard in shed.items():
        assert heard.lasted == 0.0
        compare(name, heard, GOLDEN[name], BODIES, HEADS)
    assert waited == [9.0, 18.0]
    one = 'engine="0",model_name="tiny"'
    for line in (
        f"vllm:num_requests_running{{{one}}} 1.0",
        f"vllm:num_requests_waiting{{{one}}} 1.0",
        f'vllm:num_requests_waiting_by_reason{{{one},reason="capacity"}} 1.0',
        f'vllm:engine_sleep_state{{{one},sleep_state="awake"}} 1.0',
        f"vllm:prompt_tokens_total{{{one}}} 20.0",
        'vllm:admission_rejections_total{model_name="tiny",reason="max_num_queued_reqs"} 3.0',
    ):
        assert line in page.split("\n")
    for line in (
        f"vllm:num_requests_running{{{one}}} 0.0",
        f"vllm:generation_tokens_total{{{one}}} 8.0",
        'vllm:request_success_total{engine="0",finished_reason="length",model_name="tiny"} 2.0',
    ):
        assert line in after.split("\n")


def test_sleep_and_pause_answer_as_the_real_server_did(http):
    """In development mode inference hangs while asleep or paused, health stays 200."""

    async def main():
        async with MockEngine(Script(model="tiny", dev_mode=True), name="mock") as engine:
            heard = {}
            for verb, undo in (("sleep", "wake_up"), ("pause", "resume")):
                path = "/sleep?level=1" if verb == "sleep" else f"/{verb}"
                is_ = "/is_sleeping" if verb == "sleep" else "/is_paused"
                heard[f"dev POST {path}"] = await http.talk(engine, http.request("POST", path))
                heard[f"dev GET {is_}"] = await http.talk(engine, http.get(is_))
                assert (await http.talk(engine, http.get("/health"))).status == 200
                hung = asyncio.create_task(http.talk(engine, chat(http)))
                await asyncio.sleep(100)
                assert not hung.done()
                path = f"/{undo}"
                heard[f"dev POST {path}"] = await http.talk(engine, http.request("POST", path))
                assert (await hung).lasted == 100.0
            return heard

    heard = run(main())
    assert set(heard) == {name for name in GOLDEN if name.startswith("dev ")}
    for name, each in heard.items():
        compare(name, each, GOLDEN[name], BODIES, HEADS)


def test_an_embeddings_model_embeds_and_does_not_chat(http):
    """A script of an embeddings model opens that route and closes the others."""

    async def main():
        async with MockEngine(Script(model="tiny", embeddings=True)) as engine:
            ask = http.request("POST", "/v1/embeddings", {"model": "tiny", "input": ["a", "b"]})
            first = (await http.talk(engine, ask)).json()
            again = (await http.talk(engine, ask)).json()
            chat_ = await http.talk(engine, http.chat())
            return first, again, chat_.status

    first, again, status = run(main())
    assert [item["index"] for item in first["data"]] == [0, 1]
    assert first["data"] == again["data"]
    assert first["data"][0]["embedding"] != first["data"][1]["embedding"]
    assert status == 404


def test_who_answered_is_in_header_and_body(http):
    """Name and run token are there in JSON and in streams; another seed says other words."""

    async def main(seed):
        async with MockEngine(name="late", seed=seed) as engine:
            heard = await http.talk(engine, http.chat(max_tokens=13))
            stream = await http.talk(engine, http.chat(max_tokens=13, stream=True))
            return heard, stream, engine.identity.run

    heard, stream, token = run(main(7))
    other, _, _ = run(main(8))
    text = heard.json()["choices"][0]["message"]["content"]
    assert b"\r\nx-engine: late\r\n" in heard.head
    assert text.startswith(f" late {token} ")
    assert f'"content":" {token}"'.encode() in stream.body
    assert text.split()[2:] != other.json()["choices"][0]["message"]["content"].split()[2:]
