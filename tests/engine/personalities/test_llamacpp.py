"""The golden tests of the llama.cpp personality: two builds' answers, asked again of the mock."""

from __future__ import annotations

import asyncio

import pytest

import golden_questions
from golden import captured, compare
from staticfire.clock.virtual import run
from staticfire.engine import Capacity, Loading, MockEngine, Script, Sleeping

HEADS = {"content-length": "checked against the body, whose ids, words and timings differ"}
"""Header fields whose values may differ, and why."""

BODIES = [
    (rb'"(chatcmpl-|resp_|msg_)[A-Za-z0-9]{32}"', rb'"\1ID"', "ids are random"),
    (rb'"(created|created_at|completed_at)":\d+', rb'"\1":T', "the clock's own time"),
    (rb'"system_fingerprint":"b[01]-\w+"', rb'"system_fingerprint":F', "run token"),
    (rb'"(\w+_(ms|per_second))":[\d.]+', rb'"\1":N', "speed is the script's"),
    (
        rb'"(cached_tokens|cache_n|prompt_n)":\d+',
        rb'"\1":N',
        "the mock keeps no prompt between requests unless the script has KV blocks",
    ),
]
"""What may differ in a body, and why; spoken words are compared by their number."""

OLD = captured("llamacpp-10434.txt")
NEW = captured("llamacpp-2026.10.11549.txt")
LEFT_OUT = {
    "HEAD /health": "the real one writes Accept-Ranges after Connection; see its own test",
}
SCRIPT = Script(
    model="tiny", personality="llamacpp", max_model_len=1024, build="10434",
    capacity=Capacity(slots=2),
)  # fmt: skip


def chat(http, **fields):
    return golden_questions.chat(http, "tiny", **fields)


def questions(http):
    """Name → the request that was sent to the real server."""
    return golden_questions.questions(http, OLD, "tiny", words=5000) | {
        "chat empty body": http.request(body=b""),
        "responses": http.request(
            "POST", "/v1/responses", {"model": "tiny", "input": "hi", "max_output_tokens": 3}
        ),
        "tokenize": http.request("POST", "/tokenize", {"content": "hi"}),
    }


def test_every_capture_has_a_question(http):
    """No captured answer is left out of the comparison without a reason."""
    assert set(OLD) == set(questions(http)) | set(LEFT_OUT)
    assert set(NEW) <= set(OLD)


async def answer(http, script, request):
    async with MockEngine(script, name="mock") as engine:
        return await http.talk(engine, request)


@pytest.mark.parametrize("name", [name for name in OLD if name not in LEFT_OUT])
def test_the_mock_answers_as_build_10434_did(http, name):
    """Status, header names, case and order, JSON key order, errors and chunks are the capture's."""
    heard = run(answer(http, SCRIPT, questions(http)[name]))
    compare(name, heard, OLD[name], BODIES, HEADS)


@pytest.mark.parametrize("name", NEW)
def test_the_mock_answers_as_the_newer_build_did(http, name):
    """Without a build the newer one speaks: bad JSON is 400, a listing tells the architecture."""
    script = Script(model="tiny", personality="llamacpp", max_model_len=1024)
    compare(name, run(answer(http, script, questions(http)[name])), NEW[name], BODIES, HEADS)


def test_head_is_get_without_its_body(http):
    """HEAD of a path that has a GET gives its head with the length of the body that it lacks."""
    heard = run(answer(http, SCRIPT, http.request("HEAD", "/health")))
    assert heard.body == b""
    names = {line.split(b":")[0] for line in heard.head.split(b"\r\n")[1:]} - {b"X-Engine"}
    assert names == {key.encode() for key, _ in OLD["HEAD /health"].fields} - {b"Accept-Ranges"}
    assert b"\r\nContent-Length: 15" in heard.head


def test_while_it_loads_everything_is_503(http):
    """Health, listing and unknown paths too, with one body; then all of it works at once."""
    script = Script(model="tiny", personality="llamacpp", life=[Loading(seconds=60)])
    loading = b'{"error":{"message":"Loading model","type":"unavailable_error","code":503}}'

    async def main():
        async with MockEngine(script) as engine:
            asks = [http.get("/health"), http.get("/v1/models"), http.get("/x"), chat(http)]
            before = [await http.talk(engine, ask) for ask in asks]
            await asyncio.sleep(60)
            after = [(await http.talk(engine, ask)).status for ask in asks]
            return before, after

    before, after = run(main())
    assert [(heard.status, heard.body) for heard in before] == [(503, loading)] * 4
    assert after == [200, 200, 404, 200]


def test_it_queues_without_bound_and_says_so_in_its_metrics(http):
    """With one slot, of six requests one is processed and five are deferred, none refused."""
    script = Script(
        model="tiny", personality="llamacpp", capacity=Capacity(slots=1, first_token=5.0)
    )

    async def main():
        async with MockEngine(script) as engine:
            asks = [asyncio.create_task(http.talk(engine, chat(http))) for _ in range(6)]
            await asyncio.sleep(1)
            page = (await http.talk(engine, http.get("/metrics"))).body.decode().split("\n")
            slots = (await http.talk(engine, http.get("/slots"))).json()
            return page, slots, [(await ask).lasted for ask in asks]

    page, slots, lasted = run(main())
    assert "llamacpp:requests_processing 1" in page
    assert "llamacpp:requests_deferred 5" in page
    assert [slot["is_processing"] for slot in slots] == [True]
    assert lasted == [5.0, 10.0, 15.0, 20.0, 25.0, 30.0]


@pytest.mark.parametrize(("stream", "held"), [(False, 1), (True, 0)])
def test_only_a_streams_client_is_missed_when_it_leaves(http, stream, held):
    """A JSON answer holds its slot to its end; a stream's is free at once."""
    script = Script(model="tiny", personality="llamacpp", capacity=Capacity(per_token=1.0))

    async def main():
        async with MockEngine(script) as engine:
            await http.talk(engine, chat(http, max_tokens=8, stream=stream), patience=2.0)
            await asyncio.sleep(1)
            running = engine.slots.running
            await asyncio.sleep(10)
            return running, engine.slots.running

    assert run(main()) == (held, 0)


def test_a_chat_wakes_it(http):
    """Asleep, health is 200 and the properties say so; the next chat is answered."""
    script = Script(model="tiny", personality="llamacpp", life=[Sleeping()])

    async def main():
        async with MockEngine(script) as engine:
            told = [(await http.talk(engine, http.get("/props"))).json()["is_sleeping"]]
            health = (await http.talk(engine, http.get("/health"))).status
            heard = await http.talk(engine, chat(http))
            told.append((await http.talk(engine, http.get("/props"))).json()["is_sleeping"])
            return told, health, heard.status

    assert run(main()) == ([True, False], 200, 200)


def test_sigterm_leaves_open_answers_mute(http):
    """The port is closed at once, no open answer ends; the process is gone with its clients."""
    script = Script(model="tiny", personality="llamacpp", capacity=Capacity(per_token=1.0))

    async def main():
        async with MockEngine(script) as engine:
            asks = [
                asyncio.create_task(
                    http.talk(engine, chat(http, max_tokens=9, stream=stream), patience=60.0)
                )
                for stream in (True, False)
            ]
            await asyncio.sleep(2.5)
            engine.terminate()
            with pytest.raises(ConnectionRefusedError):
                await http.talk(engine, http.get("/health"))
            heard = [await ask for ask in asks]
            await asyncio.sleep(1)
            return heard, engine.phase().name

    (stream, plain), phase = run(main())
    assert (stream.ended, stream.times[-1] < 3.0, plain.ended, plain.data) == (
        "open", True, "open", b"",
    )  # fmt: skip
    assert phase == "dead"


def test_a_second_sigterm_ends_it_at_once(http):
    """Open answers are cut."""
    script = Script(model="tiny", personality="llamacpp", capacity=Capacity(per_token=1.0))

    async def main():
        async with MockEngine(script) as engine:
            ask = asyncio.create_task(http.talk(engine, chat(http, max_tokens=9, stream=True)))
            await asyncio.sleep(2.5)
            engine.terminate()
            await asyncio.sleep(1)
            engine.terminate()
            return (await ask).lasted

    assert run(main()) == 3.5


def test_a_key_locks_everything_but_health_and_listing(http):
    """The flag `--api-key` asks for it in the header."""
    script = Script(model="tiny", personality="llamacpp", flags=["--api-key secret"])

    async def main():
        async with MockEngine(script) as engine:
            keyed = http.request(body={"messages": []}, headers=("Authorization: Bearer secret",))
            asks = [http.get("/health"), http.get("/v1/models"), chat(http), keyed]
            return [await http.talk(engine, ask) for ask in asks]

    heard = run(main())
    assert [each.status for each in heard] == [200, 200, 401, 200]
    assert heard[2].json()["error"]["message"] == "Invalid API Key"
