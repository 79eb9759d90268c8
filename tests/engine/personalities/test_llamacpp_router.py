"""llama.cpp's router mode: listed but not loaded."""

from __future__ import annotations

import asyncio

from staticfire.clock.virtual import run
from staticfire.engine import Loading, MockEngine, Script

SCRIPT = Script(
    model="tiny", models=["big"], personality="llamacpp-router", life=[Loading(seconds=9)]
)


def statuses(heard):
    return {card["id"]: card["status"]["value"] for card in heard.json()["data"]}


def test_everything_is_listed_and_the_first_chat_waits_for_its_model(http):
    """Health is 200 and the list complete while chat hangs; the status turns from loading."""

    async def main():
        async with MockEngine(SCRIPT) as engine:
            chat = asyncio.create_task(http.talk(engine, http.chat(model="tiny")))
            health = (await http.talk(engine, http.get("/health"))).status
            before = statuses(await http.talk(engine, http.get("/v1/models")))
            heard = await chat
            return health, before, heard, statuses(await http.talk(engine, http.get("/v1/models")))

    health, before, heard, after = run(main())
    assert health == 200
    assert before == {"tiny": "loading", "big": "unloaded"}
    assert (heard.status, heard.lasted, heard.json()["model"]) == (200, 9.0, "tiny")
    assert after["tiny"] == "loaded"


def test_an_answer_of_the_child_is_chunked_and_closes_twice(http):
    """JSON has no length there, and `Connection: close` stands twice."""

    async def main():
        script = Script(model="tiny", personality="llamacpp-router")
        async with MockEngine(script) as engine:
            return await http.talk(engine, http.chat(model="tiny"))

    head = run(main()).head.split(b"\r\n")
    assert head.count(b"Connection: close") == 2
    assert b"Transfer-Encoding: chunked" in head


def test_a_model_must_be_named_and_known(http):
    """Unlike the plain server, which answers to any name."""

    async def main():
        script = Script(model="tiny", personality="llamacpp-router")
        async with MockEngine(script) as engine:
            return [
                await http.talk(engine, http.chat(**fields)) for fields in ({"model": "nope"}, {})
            ]

    unknown, missing = run(main())
    assert (unknown.status, unknown.body) == (
        400,
        b'{"error":{"code":400,"message":"model \'nope\' not found","type":"invalid_request_error"}}',
    )
    assert missing.status == 400
