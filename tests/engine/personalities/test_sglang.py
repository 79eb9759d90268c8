"""The SGLang personality, held against facts of its source: it was never captured."""

from __future__ import annotations

import asyncio
import json

import pytest

from staticfire.clock.virtual import run
from staticfire.engine import Capacity, Loading, MockEngine, Script
from staticfire.errors import WrongInput

ROOM = {"bootstrap_host": "10.0.0.1", "bootstrap_port": 8998, "bootstrap_room": 7}


async def ask(http, request, **fields):
    async with MockEngine(Script(model="tiny", personality="sglang", **fields)) as engine:
        return await http.talk(engine, request)


def test_health_takes_a_second(http):
    """It sends a request through the engine and looks once a second; a setting makes it instant."""
    slow = run(ask(http, http.get("/health")))
    quick = run(
        ask(http, http.get("/health"), flags=["SGLANG_ENABLE_HEALTH_ENDPOINT_GENERATION=0"])
    )
    assert (slow.status, slow.body, slow.lasted) == (200, b"", 1.0)
    assert (quick.status, quick.lasted) == (200, 0.0)


def test_while_it_starts_it_is_listed_and_not_healthy(http):
    """The window in which the listing names the model and health is 503."""

    async def main():
        script = Script(model="tiny", personality="sglang", life=[Loading(seconds=60)])
        async with MockEngine(script) as engine:
            paths = ("/health", "/ready", "/ping", "/v1/models")
            return [(await http.talk(engine, http.get(path))).status for path in paths]

    assert run(main()) == [503, 503, 200, 200]


def test_errors_are_flat(http):
    """No `error` around the object, and the code is a number."""
    heard = run(ask(http, http.request(body={"messages": []})))
    assert heard.status == 400
    assert list(heard.json()) == ["object", "message", "type", "param", "code"]
    assert heard.json()["type"] == "BadRequestError"
    heard = run(ask(http, http.request(body=b"{")))
    assert (heard.status, heard.json()["type"], heard.json()["code"]) == (400, "Bad Request", 400)


@pytest.mark.parametrize("stream", [False, True])
def test_a_full_queue_is_503_or_an_event_in_a_200(http, stream):
    """JSON gets the status; a stream gets 200 and the status in its first event."""
    capacity = Capacity(slots=1, queue=0, first_token=9.0)

    async def main():
        script = Script(model="tiny", personality="sglang", capacity=capacity)
        async with MockEngine(script) as engine:
            busy = asyncio.create_task(http.talk(engine, http.chat()))
            await asyncio.sleep(1)
            heard = await http.talk(engine, http.chat(stream=stream))
            await busy
            return heard

    heard = run(main())
    told = {"object": "error", "message": "The request queue is full.", "param": None, "code": 503}
    if stream:
        assert heard.status == 200
        event = json.loads(heard.events[0].removeprefix(b"data: "))
        assert event == {"error": {**told, "type": "SERVICE_UNAVAILABLE"}}
    else:
        assert (heard.status, heard.json()) == (503, {**told, "type": "503"})
    assert b"retry-after" not in heard.head.lower()


def test_chat_has_the_sources_keys_in_their_order(http):
    """Answer, choice, message and usage."""
    told = run(ask(http, http.chat(max_tokens=13))).json()
    assert list(told) == ["id", "object", "created", "model", "choices", "usage", "metadata"]
    (choice,) = told["choices"]
    assert list(choice) == ["index", "message", "logprobs", "finish_reason", "matched_stop"]
    assert list(choice["message"]) == ["role", "content", "reasoning_content", "tool_calls"]
    assert list(told["usage"]) == [
        "prompt_tokens", "total_tokens", "completion_tokens", "prompt_tokens_details",
        "reasoning_tokens",
    ]  # fmt: skip


def test_a_stream_ends_with_an_event_without_a_token(http):
    """A role, the tokens, the finish reason apart, the usage if asked for, `[DONE]`."""
    heard = run(ask(http, http.chat(stream=True, stream_options={"include_usage": True})))
    *events, done = [event.removeprefix(b"data: ") for event in heard.events]
    assert done == b"[DONE]"
    parsed = [json.loads(event) for event in events]
    deltas = [event["choices"][0]["delta"]["content"] for event in parsed if event["choices"]]
    assert deltas[0] == ""
    assert deltas[-1] is None
    assert len(deltas) == 6
    assert parsed[-2]["choices"][0]["finish_reason"] == "length"
    assert parsed[-1]["usage"]["completion_tokens"] == 4


def test_a_leg_of_prefill_and_decode_needs_a_room(http):
    """With `--disaggregation-mode` a request without a bootstrap room is refused, with one not."""
    flags = ["--disaggregation-mode prefill"]
    without = run(ask(http, http.chat(), flags=flags))
    assert (without.status, "bootstrap room" in without.json()["message"]) == (400, True)
    assert run(ask(http, http.chat(**ROOM), flags=flags)).status == 200
    info = run(ask(http, http.get("/get_server_info"), flags=flags)).json()
    assert info["disaggregation_mode"] == "prefill"


def test_paused_generation_hangs_until_it_continues(http):
    """Chat waits, readiness is 503, and afterwards chat is answered."""

    async def main():
        async with MockEngine(Script(model="tiny", personality="sglang")) as engine:
            await http.talk(engine, http.request("POST", "/pause_generation"))
            ready = (await http.talk(engine, http.get("/ready"))).status
            hung = asyncio.create_task(http.talk(engine, http.chat()))
            await asyncio.sleep(50)
            await http.talk(engine, http.request("POST", "/continue_generation"))
            return ready, (await hung).lasted

    assert run(main()) == (503, 50.0)


def test_an_abort_request_ends_the_answers_it_names(http):
    """`rid` names one, `abort_all` all of them; the answer to the abort is empty."""

    async def main():
        capacity = Capacity(per_token=10.0)
        script = Script(model="tiny", personality="sglang", capacity=capacity)
        async with MockEngine(script) as engine:
            asks = [
                asyncio.create_task(http.talk(engine, http.chat(rid=rid))) for rid in ("a", "b")
            ]
            await asyncio.sleep(1)
            told = http.request("POST", "/abort_request", {"rid": "a"})
            aborted = await http.talk(engine, told)
            return aborted, [(await each).lasted for each in asks]

    aborted, lasted = run(main())
    assert (aborted.status, aborted.body) == (200, b"")
    assert lasted == [1.0, 30.0]


def test_sigterm_drains_with_health_at_503(http):
    """Unlike vLLM it says that it drains; what is on its way ends well; then it is gone."""

    async def main():
        script = Script(model="tiny", personality="sglang", capacity=Capacity(per_token=5.0))
        async with MockEngine(script) as engine:
            ask = asyncio.create_task(http.talk(engine, http.chat(stream=True)))
            await asyncio.sleep(1)
            engine.terminate()
            health = (await http.talk(engine, http.get("/health"))).status
            heard = await ask
            await asyncio.sleep(0.001)
            return health, heard.events[-1], engine.phase().name

    assert run(main()) == (503, b"data: [DONE]", "dead")


def test_its_metrics_move_with_its_load(http):
    """Running and queued requests, in floats with labels."""

    async def main():
        capacity = Capacity(slots=1, first_token=9.0)
        script = Script(model="tiny", personality="sglang", capacity=capacity)
        async with MockEngine(script) as engine:
            asks = [asyncio.create_task(http.talk(engine, http.chat())) for _ in range(3)]
            await asyncio.sleep(1)
            page = (await http.talk(engine, http.get("/metrics"))).body.decode().split("\n")
            await asyncio.gather(*asks)
            return page

    page = run(main())
    assert 'sglang:num_running_reqs{engine_type="unified",model_name="tiny"} 1.0' in page
    assert 'sglang:num_queue_reqs{engine_type="unified",model_name="tiny"} 2.0' in page


def test_an_unknown_flag_is_refused_with_the_nearest():
    """A flag that the personality does not know is no silent nothing."""
    with pytest.raises(WrongInput, match="--disaggregation-mode"):
        Script(personality="sglang", flags=["--disagregation-mode prefill"])
